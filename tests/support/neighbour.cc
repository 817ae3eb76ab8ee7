// SPDX-License-Identifier: Apache-2.0
#include "tests/support/neighbour.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "tests/media/generated_clips.h"
#include "tests/support/act_on_host.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

// bound: the pause between two frames. A neighbour at full speed would take the
// processor that the hostile backend needs to meet, or to miss, its deadlines.
constexpr std::chrono::milliseconds kPause{2};

// Returns FFmpeg's frames of the clip, or none if it cannot be decoded. Asks
// FFmpeg once only, since some tests have hundreds of neighbours.
const std::vector<std::string>& FramesByFfmpeg(const std::string& clip) {
  static const std::vector<std::string> frames =
      HashesByFfmpeg(clip).value_or(std::vector<std::string>());
  return frames;
}

}  // namespace

Neighbour::Neighbour(Host& host)
    : host_(host), supervisor_(host.supervisor_pid()) {
  const auto clip = Generate(Clip::kOddSize);
  if (!clip) {
    ADD_FAILURE() << clip.error();
    return;
  }
  expected_ = FramesByFfmpeg(*clip);
  if (expected_.empty()) {
    ADD_FAILURE() << "ffmpeg decodes no frame of " << *clip;
    return;
  }
  auto video = host.OpenVideo(*clip, {.device = "cpu"});
  if (!video) {
    ADD_FAILURE() << video.error();
    return;
  }
  thread_ = std::thread(
      [this, video = std::move(*video)]() mutable { Play(std::move(video)); });
  AwaitFrame();
}

Neighbour::~Neighbour() {
  if (!thread_.joinable()) return;
  AwaitFrame();
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
  EXPECT_EQ(host_.supervisor_pid(), supervisor_) << "bulkheadd was replaced";
}

void Neighbour::AwaitFrame() {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [this, before = frames_] { return failed_ || frames_ > before; });
}

void Neighbour::Play(VideoDecoder video) {
  size_t next = 0;
  std::optional<std::string> failure;
  std::unique_lock lock(mutex_);
  while (!done_ && !failure) {
    lock.unlock();
    const auto frame = video.Next();
    if (!frame) {
      failure = frame.error().ToString();
    } else if (*frame) {
      if (next == expected_.size() || HashOf(**frame) != expected_[next]) {
        failure = "frame " + std::to_string(next) + " is not FFmpeg's";
      }
      ++next;
    } else {
      if (next != expected_.size()) failure = "the clip ended early";
      video.Rewind();
      next = 0;
    }
    lock.lock();
    ++frames_;
    failed_ = failure.has_value();
    changed_.notify_all();
    changed_.wait_for(lock, kPause, [this] { return done_; });
  }
  lock.unlock();
  if (failure) ADD_FAILURE() << "the neighbour: " << *failure;
  const RecoveryStats recovery = video.recovery();
  EXPECT_EQ(recovery.restarts, 0u)
      << "the neighbour lost its worker: " << recovery.last_cause;
}

Status ActBesideNeighbour(const HostOptions& options,
                          std::chrono::milliseconds limit,
                          const std::function<Status(Host&)>& act) {
  bool acted = false;
  Status status = ActOnHost(options, limit, [&](Host& host) {
    acted = true;
    const Neighbour neighbour(host);
    return act(host);
  });
  EXPECT_TRUE(acted) << status;
  return status;
}

}  // namespace bulkhead::tests
