// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "tests/decoding/decoding_fixture.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class EachClip : public DecodingTest,
                 public testing::WithParamInterface<Clip> {};

TEST_P(EachClip, DecodesAsFfmpegDoes) {
  VideoDecoder video = Open(GetParam());
  EXPECT_EQ(HashesOf(video), Reference(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Generated, EachClip, testing::ValuesIn(AllClips()),
                         [](const auto& clip) { return ClipName(clip.param); });

using Decoding = DecodingTest;

TEST_F(Decoding, BackendDescribesItself) {
  VideoDecoder video = Open(Clip::kH264);
  const BackendInfo backend = Backend();
  EXPECT_FALSE(backend.name.empty());
  EXPECT_FALSE(backend.distribution.empty());
  EXPECT_FALSE(backend.version.empty());
  EXPECT_TRUE(backend.file.starts_with(DistributionDirectory() + "/"))
      << backend.file;
  EXPECT_TRUE(backend.file.ends_with(".so")) << backend.file;
  EXPECT_EQ(backend.state, "ready") << backend.reason;
  EXPECT_EQ(backend.tier, SandboxTier::kFull);
  EXPECT_GT(backend.zygote_pid, 0);
  EXPECT_GT(backend.reaper_pid, 0);
  const auto& sessions = backend.session_pids;
  EXPECT_EQ(std::count(sessions.begin(), sessions.end(), video.worker_pid()),
            1);
}

TEST_F(Decoding, MetadataTellsTheStream) {
  const VideoDecoder video = Open(Clip::kH264);
  const VideoMetadata& metadata = video.metadata();
  EXPECT_EQ(metadata.codec, "h264");
  EXPECT_EQ(metadata.pixel_format, "yuv420p");
  EXPECT_EQ(metadata.width, 320u);
  EXPECT_EQ(metadata.height, 240u);
  EXPECT_EQ(metadata.stream_index, 0);
  EXPECT_EQ(metadata.stream_count, 1u);
  EXPECT_EQ(metadata.rotation, 0);
  EXPECT_NE(metadata.container.find("mp4"), std::string::npos);
  EXPECT_DOUBLE_EQ(metadata.average_frame_rate.value(), 25);
  EXPECT_EQ(metadata.frame_count_from_header, 120u);
  EXPECT_NEAR(metadata.duration_seconds_from_header.value_or(0), 4.8, 0.001);
  EXPECT_EQ(metadata.backend, Backend().name);
}

TEST_F(Decoding, MetadataOfATurnedStreamIsThatOfItsFrames) {
  VideoDecoder video = Open(Clip::kRotated);
  EXPECT_EQ(video.metadata().width, 240u);
  EXPECT_EQ(video.metadata().height, 320u);
  EXPECT_NE(video.metadata().rotation, 0);
  EXPECT_EQ(video.Next().value()->width(), 240u);
}

TEST_F(Decoding, FramesCarryTheirPlaceInTheStream) {
  VideoDecoder video = Open(Clip::kH264);
  for (uint64_t i = 0; i < 120; ++i) {
    auto next = video.Next();
    ASSERT_TRUE(next) << next.error();
    ASSERT_TRUE(*next);
    const Frame& frame = **next;
    EXPECT_EQ(frame.index(), i);
    EXPECT_NEAR(frame.pts_seconds(), static_cast<double>(i) / 25, 1e-6);
    EXPECT_NEAR(frame.duration_seconds(), 0.04, 1e-6);
    EXPECT_EQ(frame.keyframe(), i % 24 == 0) << i;
    EXPECT_EQ(frame.device().substr(0, frame.device().find(':')),
              DeviceNameUnderTest());
  }
  EXPECT_FALSE(video.Next().value());
  EXPECT_FALSE(video.Next().value()) << "the end stays the end";
}

TEST_F(Decoding, RewindBeginsAgain) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  for (int i = 0; i < 37; ++i) ASSERT_TRUE(video.Next().value());
  video.Rewind();
  EXPECT_EQ(HashesOf(video), expected) << "from the middle";
  video.Rewind();
  EXPECT_EQ(HashesOf(video), expected) << "from the end";
}

TEST_F(Decoding, FileCanBeOpenedAgainAndAgain) {
  const auto expected = Reference(Clip::kOddSize);
  for (int i = 0; i < 10; ++i) {
    VideoDecoder video = Open(Clip::kOddSize);
    EXPECT_EQ(HashesOf(video), expected);
  }
}

TEST_F(Decoding, ManySessionsDecodeAtOnce) {
  const std::vector<Clip> clips = AllClips();
  std::vector<std::vector<std::string>> expected;
  for (Clip clip : clips) expected.push_back(Reference(clip));
  std::vector<std::vector<std::string>> hashes(clips.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < clips.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        VideoDecoder video = Open(clips[i]);
        hashes[i] = HashesOf(video);
      } catch (const StatusError& error) {
        ADD_FAILURE() << error.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(hashes, expected);
}

TEST_F(Decoding, SessionsOfOneThreadTakeTurns) {
  const auto expected = Reference(Clip::kMpeg2);
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 4; ++i) videos.push_back(Open(Clip::kMpeg2));
  for (const std::string& hash : expected) {
    for (VideoDecoder& video : videos) {
      EXPECT_EQ(HashOf(*video.Next().value()), hash);
    }
  }
}

TEST_F(Decoding, ClosingInTheMiddleEndsTheWorker) {
  std::optional<ProcessWatch> worker;
  {
    VideoDecoder video = Open(Clip::kH264);
    ASSERT_TRUE(video.Next().value());
    worker.emplace(video.worker_pid());
    ASSERT_TRUE(worker->valid());
  }
  EXPECT_TRUE(worker->AwaitEnd());
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(HashesOf(video), Reference(Clip::kH264));
}

TEST_F(Decoding, FramesOutliveDecoderAndHost) {
  const auto expected = Reference(Clip::kH264);
  std::vector<Frame> kept;
  {
    VideoDecoder video = Open(Clip::kH264);
    for (int i = 0; i < 3; ++i) kept.push_back(*video.Next().value());
  }
  CloseHost();
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(HashOf(kept[i]), expected[i]);
  }
}

TEST_F(Decoding, DecoderOutlivesHost) {
  VideoDecoder video = Open(Clip::kH264);
  ASSERT_TRUE(video.Next().value());
  CloseHost();
  video.Rewind();
  EXPECT_EQ(HashesOf(video), Reference(Clip::kH264));
}

TEST_F(Decoding, SnapshotIsPackedAndHoldsNoSlot) {
  const auto expected = Reference(Clip::kOddSize);
  VideoDecoder video = Open(Clip::kOddSize);
  std::vector<Frame> snapshots;
  for (;;) {
    auto frame = video.Next().value();
    if (!frame) break;
    snapshots.push_back(frame->Snapshot());
    EXPECT_EQ(snapshots.back().pts(), frame->pts());
    EXPECT_EQ(snapshots.back().index(), frame->index());
  }
  ASSERT_EQ(snapshots.size(), expected.size());
  for (size_t i = 0; i < snapshots.size(); ++i) {
    EXPECT_EQ(snapshots[i].stride(), 3 * snapshots[i].width());
    EXPECT_EQ(HashOf(snapshots[i]), expected[i]);
  }
}

TEST_F(Decoding, HoldingEverySlotIsAnErrorThatReleasingCures) {
  const auto expected = Reference(Clip::kH264);
  VideoDecoder video = Open(Clip::kH264);
  std::vector<Frame> held;
  std::optional<Status> failure;
  while (!failure && held.size() < 120) {
    auto frame = video.Next();
    if (frame) {
      ASSERT_TRUE(*frame);
      held.push_back(*std::move(*frame));
    } else {
      failure = frame.error();
    }
  }
  ASSERT_TRUE(failure) << "120 frames fit into 8 slots";
  EXPECT_EQ(failure->code(), Code::kResourceExhausted) << *failure;
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(HashOf(held[i]), expected[i]) << "overwritten while held";
  }
  const size_t done = held.size();
  held.clear();
  EXPECT_EQ(HashesOf(video),
            std::vector<std::string>(expected.begin() + done, expected.end()));
}

}  // namespace
}  // namespace bulkhead::tests
