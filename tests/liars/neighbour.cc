// SPDX-License-Identifier: Apache-2.0
#include "tests/liars/neighbour.h"

#include <gtest/gtest.h>

#include "backends/sdk/testing/clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

std::unique_ptr<Neighbour> Neighbour::Start() {
  const auto clip = sdk::Clip::Make(
      "neighbour.mp4",
      {"-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "40"});
  if (!clip) return nullptr;
  HostOptions options;
  options.plugin_path.emplace();
  options.libexec_dir = LibexecDirectory();
  std::unique_ptr<Neighbour> neighbour(new Neighbour);
  neighbour->host_ = Host::Create(options).value();
  neighbour->video_.emplace(neighbour->host_->OpenVideo(clip->path()).value());
  while (auto frame = neighbour->video_->Next().value()) {
    neighbour->expected_.push_back(HashOf(*frame));
  }
  neighbour->video_->Rewind();
  return neighbour;
}

void Neighbour::ExpectNextFramesExact(int count) {
  while (count-- > 0) {
    auto frame = video_->Next();
    ASSERT_TRUE(frame) << frame.error();
    if (!*frame) {
      EXPECT_EQ(next_, expected_.size());
      video_->Rewind();
      next_ = 0;
      continue;
    }
    ASSERT_LT(next_, expected_.size());
    EXPECT_EQ(HashOf(**frame), expected_[next_++]);
  }
  EXPECT_EQ(video_->recovery().restarts, 0u);
}

}  // namespace bulkhead::tests
