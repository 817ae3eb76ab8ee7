// SPDX-License-Identifier: Apache-2.0
//
// Backends that were built with an older or a newer release of the header are
// used like this release's, if both sides serve one version of the ABI.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using testing::HasSubstr;

class Versions : public testing::Test {
 protected:
  Versions() {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.autoload = true;
    options.plugin_path = std::vector<std::string>();
    for (const char* variable :
         {"BULKHEAD_TEST_PAST", "BULKHEAD_TEST_FUTURE", "BULKHEAD_TEST_UNREADY",
          "BULKHEAD_TEST_UNLISTED"}) {
      options.plugin_path->push_back(DistributionDirectory(variable));
    }
    host_ = Host::Create(options).value();
  }

  std::vector<std::string> Decode(const std::string& clip,
                                  const std::string& device) {
    auto video = host_->OpenVideo(clip, {.device = device});
    EXPECT_TRUE(video) << video.error();
    return video ? HashesOfRest(*video) : std::vector<std::string>();
  }

  std::unique_ptr<Host> host_;
};

// [abi-1], [abi-2], [abi-3].
TEST_F(Versions, BackendsOfOlderAndNewerReleasesDecode) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto expected = Decode(clip, "cpu");
  ASSERT_EQ(expected.size(), 120u);
  EXPECT_EQ(Decode(clip, "past"), expected);
  EXPECT_EQ(Decode(clip, "future"), expected);
}

// [abi-4].
TEST_F(Versions, WithoutACommonVersionTheErrorNamesBothRanges) {
  const Status unready = host_->Prewarm("unready");
  EXPECT_EQ(unready.code(), Code::kBackendUnavailable) << unready;
  EXPECT_THAT(unready.message(),
              HasSubstr("the backend serves version 2 of the ABI, and this "
                        "Bulkhead version 1: install releases of both"));
  const Status unlisted = host_->Prewarm("unlisted");
  EXPECT_THAT(unlisted.message(),
              HasSubstr("it is built for version 2 of the interface for "
                        "backends; this Bulkhead has version 1"));
}

}  // namespace
}  // namespace bulkhead::tests
