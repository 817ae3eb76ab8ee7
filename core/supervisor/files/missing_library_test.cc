// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/missing_library.h"

#include <gtest/gtest.h>

namespace bulkhead::files {
namespace {

constexpr char kLoader[] =
    "bulkhead-worker: error while loading shared libraries: ";
constexpr char kReason[] =
    ": cannot open shared object file: No such file or directory ";

std::string AfterLoaderMissed(const std::string& library) {
  return PackageOfMissingLibrary(kLoader + library + kReason);
}

TEST(PackageOfMissingLibrary, IsNamedAsDebianNamesIt) {
  EXPECT_EQ(AfterLoaderMissed("libavcodec.so.59"),
            "; Debian has libavcodec.so.59 in the package libavcodec59");
  EXPECT_EQ(PackageOfMissingLibrary("one line\nlibswscale.so.6" +
                                    std::string(kReason)),
            "; Debian has libswscale.so.6 in the package libswscale6");
  EXPECT_EQ(PackageOfMissingLibrary("libxxhash.so.0" + std::string(kReason)),
            "; Debian has libxxhash.so.0 in the package libxxhash0");
}

TEST(PackageOfMissingLibrary, IsNotWhateverAVendorWrites) {
  for (const char* library :
       {"libacme.so.1", "libavcodec.so.", "libavcodec.so.59; rm -rf",
        "libavcodec-acme.so.1", "libavcodec.so.1x", "libavcodec.so.12345",
        "/tmp/libavcodec.so.59", "libavcodec", ""}) {
    EXPECT_EQ(AfterLoaderMissed(library), "") << library;
  }
}

TEST(PackageOfMissingLibrary, IsNoneWhereNoneIsMissing) {
  EXPECT_EQ(PackageOfMissingLibrary(""), "");
  EXPECT_EQ(PackageOfMissingLibrary("libavcodec.so.59 is old"), "");
}

}  // namespace
}  // namespace bulkhead::files
