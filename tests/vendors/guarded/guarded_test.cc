// SPDX-License-Identifier: Apache-2.0
#include "tests/vendors/guarded/guarded.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

TEST(GuardedEntryFunction, InitialisesOnceAndGivesTheSameTableEachTime) {
  const std::string path = DistributionDirectory() + "/guarded/libguarded.so";
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr) << ::dlerror();
  const auto autoload = reinterpret_cast<bulkhead_backend_entry>(
      ::dlsym(object, "guarded_autoload"));
  const auto initializations =
      reinterpret_cast<decltype(&guarded_initializations)>(
          ::dlsym(object, "guarded_initializations"));
  ASSERT_TRUE(autoload && initializations);
  EXPECT_EQ(initializations(), 0) << "loading the object does nothing";
  const bulkhead_backend* const first = autoload();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(autoload(), first);
  EXPECT_EQ(autoload(), first);
  EXPECT_EQ(initializations(), 1);
  EXPECT_STREQ(first->name, "guarded");
}

class Guarded : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    host_ = Host::Create(DistributionOptions()).value();
  }

  std::vector<std::string> Decode(const std::string& device) {
    auto video = host_->OpenVideo(clip_, {.device = device});
    if (!video) {
      ADD_FAILURE() << device << ": " << video.error();
      return {};
    }
    return HashesOfRest(*video);
  }

  std::unique_ptr<Host> host_;

 private:
  std::string clip_;
};

TEST_F(Guarded, BothEntryPointsThatNameItWork) {
  const auto expected = Decode("cpu");
  ASSERT_EQ(expected.size(), 120u);
  // Both entry points claim the device. The first one by name gets it.
  EXPECT_EQ(Decode("guarded"), expected);
  EXPECT_EQ(Decode("guarded/guarded"), expected);
  EXPECT_EQ(Decode("guarded_again/guarded"), expected);
}

}  // namespace
}  // namespace bulkhead::tests
