// SPDX-License-Identifier: Apache-2.0
#include "core/base/digest.h"

#include <gtest/gtest.h>

namespace bulkhead {
namespace {

std::string Of(HashAlgorithm algorithm, std::string_view text) {
  Digest digest(algorithm);
  digest.Append(text);
  return digest.Finish();
}

TEST(Digest, IsUnpaddedBase64ForUrls) {
  EXPECT_EQ(Of(HashAlgorithm::kSha256, ""),
            "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
  EXPECT_EQ(Of(HashAlgorithm::kSha384, "").size(), 64u);
  EXPECT_EQ(Of(HashAlgorithm::kSha512, "").size(), 86u);
}

TEST(Digest, PiecesGiveTheSameAsTheWhole) {
  Digest digest(HashAlgorithm::kSha256);
  digest.Append(std::string_view("ab"));
  digest.Append(std::string_view("c"));
  EXPECT_EQ(digest.Finish(), Of(HashAlgorithm::kSha256, "abc"));
}

TEST(Digest, WeakHashesAreUnknown) {
  for (const char* name : {"md5", "sha1", "SHA256", "", "crc32"}) {
    EXPECT_FALSE(HashAlgorithmNamed(name)) << name;
  }
  EXPECT_EQ(HashAlgorithmNamed("sha512"), HashAlgorithm::kSha512);
}

}  // namespace
}  // namespace bulkhead
