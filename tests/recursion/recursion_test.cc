// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"

namespace bulkhead::tests {
namespace {

// Autoload never recurses: a plugin that starts Bulkhead itself fails to load,
// and other backends are not affected.
class Recursion : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    host_ = Host::Create(DistributionOptions()).value();
  }

  Status Opening(const std::string& device) {
    const auto video = host_->OpenVideo(clip_, {.device = device});
    return video ? Status() : video.error();
  }

  static testing::AssertionResult Says(const Status& status,
                                       const std::string& text) {
    if (status.message().find(text) != std::string::npos) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << status;
  }

  std::string clip_;
  std::unique_ptr<Host> host_;
};

TEST_F(Recursion, InAnEntryFunctionFailsTheLoadWhateverItReturns) {
  for (const std::string name :
       {"recurses", "recurses_and_serves", "recurses_and_throws"}) {
    const Status status = Opening(name);
    EXPECT_EQ(status.code(), Code::kBackendUnavailable) << status;
    EXPECT_TRUE(Says(status, "Failed to load the backend extension: " + name +
                                 " (recursing-backends 1.0, "));
    EXPECT_TRUE(Says(status, "starts Bulkhead from inside a backend"));
    EXPECT_TRUE(Says(status, "BULKHEAD_DEVICE_BACKEND_AUTOLOAD=0"));
  }
  EXPECT_TRUE(Opening("cpu").ok());
}

TEST_F(Recursion, InAnOpenFailsThatOpen) {
  const Status status = Opening("recurses_in_open");
  EXPECT_EQ(status.code(), Code::kUnsupported) << status;
  EXPECT_TRUE(Says(status, "from inside one of its backends"));
  EXPECT_TRUE(Opening("cpu").ok());
}

}  // namespace
}  // namespace bulkhead::tests
