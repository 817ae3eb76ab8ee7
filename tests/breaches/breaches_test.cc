// SPDX-License-Identifier: Apache-2.0
//
// A vendor's backend breaks the C ABI in one way. The user of its device reads
// that the backend did it, which clause of bulkhead_backend.h forbids it,
// and where in the file it was; never that the file is slow or damaged, and
// never nothing. The fifth time says the same as the first, in every process.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/media/sample_files.h"
#include "tests/support/deadlines.h"
#include "tests/support/distribution_options.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kFrames = 120;

// Returns the text of bulkhead_backend.h from the clause `id` to the next one,
// without line breaks and comment marks.
std::string ClauseOf(const std::string& id) {
  std::ifstream file(PathFromEnvironment("BULKHEAD_TEST_HEADER"));
  std::string text;
  bool inside = false;
  for (std::string word; file >> word;) {
    if (word.starts_with('[') && word.ends_with(']')) {
      inside = word == "[" + id + "]";
    }
    if (inside && word != "*") text += word + " ";
  }
  return text;
}

// The clause that a message names, and the words of it that the message quotes.
struct QuotedClause {
  std::string id;
  std::string words;
};

QuotedClause ClauseIn(const std::string& message) {
  const std::string before = "against its clause ";
  const size_t begin = message.find(before);
  const size_t quote = message.find(", \"", begin);
  if (begin == std::string::npos || quote == std::string::npos) return {};
  const size_t id = begin + before.size();
  const size_t words = quote + 3;
  return {message.substr(id, quote - id),
          message.substr(words, message.find('"', words) - words)};
}

class BreachTest : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    state_ = TemporaryDirectory() + "/state";
    std::filesystem::remove_all(state_);
    HostOptions options = DistributionOptions();
    options.state_directory = state_;
    options.deadlines.open = kShort;
    options.deadlines.seek = kShort;
    options.deadlines.frame = kShort;
    host_ = Host::Create(options).value();
  }

  Result<VideoDecoder> Open(const std::string& breach,
                            OnCorrupt on_corrupt = OnCorrupt::kError) {
    VideoOptions options{.device = "breaker", .on_corrupt = on_corrupt};
    if (!breach.empty()) options.backend_options = {{"breach", breach}};
    return host_->OpenVideo(clip_, options);
  }

  Status Play(const std::string& breach) {
    auto video = Open(breach);
    return video ? DecodeStraight(*video).failure : video.error();
  }

  // Decodes the clip in another process.
  ProgramResult PlayElsewhere(const std::string& breach) const {
    const std::string ms = "-ms=" + std::to_string(kShort.count());
    return RunProgram(
        {PathFromEnvironment("BULKHEAD_TEST_CLI"), "decode", clip_, "--device",
         "breaker", "--option", "breach=" + breach, "--format", "null",
         "--plugin-path", DistributionDirectory(), "--limit", "open" + ms,
         "--limit", "seek" + ms, "--limit", "frame" + ms},
        {.environment = {{"BULKHEAD_STATE_DIR", state_},
                         {"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
  }

  std::string clip_;
  std::string state_;
  std::unique_ptr<Host> host_;
};

// Returns the message without the number of the crash record.
std::string WithoutRecord(const std::string& message) {
  return message.substr(0, message.find("; see `bulkhead crashes"));
}

struct Row {
  const char* breach;
  const char* deed;
  const char* place = "at frame ";
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.breach; }

class Breaches : public BreachTest, public testing::WithParamInterface<Row> {};

TEST_P(Breaches, AreTheBackendsAndNamedWithRuleAndPosition) {
  const Row& row = GetParam();
  const Status status = Play(row.breach);
  std::printf("%-16s %s\n", row.breach, status.ToString().c_str());
  EXPECT_EQ(status.code(), Code::kBackendMisbehaved) << status;
  const std::string& message = status.message();
  EXPECT_THAT(message, HasSubstr("backend breaker"));
  EXPECT_THAT(message, HasSubstr("breaks bulkhead_backend.h"));
  EXPECT_THAT(message, HasSubstr(row.deed));
  EXPECT_THAT(message, HasSubstr(clip_));
  EXPECT_THAT(message, HasSubstr(row.place));
  EXPECT_THAT(message, HasSubstr("report it to the vendor"));
  EXPECT_THAT(message, Not(HasSubstr("too long")));
  EXPECT_THAT(message, Not(HasSubstr("of the file, is damaged")));
  EXPECT_THAT(message, Not(HasSubstr("skip")));
  const QuotedClause clause = ClauseIn(message);
  EXPECT_NE(clause.words, "") << message;
  EXPECT_THAT(ClauseOf(clause.id), HasSubstr(clause.words)) << message;
}

// A breach counts neither against the input nor against the backend, which
// decodes on.
TEST_P(Breaches, SayTheSameEachTimeAndDoNotEndTheBackend) {
  const std::string breach = GetParam().breach;
  const Status first = Play(breach);
  ASSERT_EQ(first.code(), Code::kBackendMisbehaved) << first;
  const std::string message = WithoutRecord(first.message());
  const auto expect_the_same = [&](const char* when) {
    SCOPED_TRACE(when);
    const Status again = Play(breach);
    EXPECT_EQ(again.code(), first.code());
    EXPECT_EQ(WithoutRecord(again.message()), message);
  };
  for (const char* when : {"second", "third", "fourth", "fifth"}) {
    expect_the_same(when);
  }
  const ProgramResult elsewhere = PlayElsewhere(breach);
  EXPECT_EQ(elsewhere.exit_code, 4) << elsewhere.Describe();
  EXPECT_THAT(elsewhere.errors, HasSubstr(message));
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGKILL));
  ASSERT_TRUE(supervisor.AwaitEnd());
  expect_the_same("with another bulkheadd");
  EXPECT_TRUE(Play("").ok());
}

INSTANTIATE_TEST_SUITE_P(
    Each, Breaches,
    testing::Values(
        Row{"again_from_both", "both send_packet and receive_frame returned"},
        Row{"again_at_end", "after the end was sent, receive_frame returned"},
        Row{"end_early", "END_OF_STREAM before the end was sent"},
        Row{"end_from_send", "send_packet returned BULKHEAD_END_OF_STREAM"},
        Row{"no_frame", "gave no frame", "while opening"},
        Row{"equal_times", "frames in a row the timestamp"},
        Row{"bogus_buffer", "not in the buffer that it names"},
        Row{"few_planes", "with 1 of its 3 planes", "while opening"},
        Row{"narrow_rows", "a stride of 1 for rows of 320", "while opening"},
        Row{"no_format", "without a size or pixel format", "while opening"},
        Row{"unknown_result", "send_packet returned 99"},
        Row{"damage_for_ever", "without another packet"},
        Row{"no_decoder", "BULKHEAD_OK and no decoder", "while opening"},
        Row{"again_from_open", "open returned 1", "while opening"},
        Row{"foreign_times", "which no packet has"},
        Row{"no_times", "gave a picture with no timestamp"},
        Row{"invented", "which no packet has"},
        Row{"upside_down", "not in the buffer that it names"},
        Row{"odd_format", "in the format acme12", "while opening"},
        Row{"swapped", "after one with a later timestamp", "at frame 9"},
        Row{"no_size", "a frame whose size is 0 bytes", "at frame 10"},
        Row{"bad_pointer", "plane 1 in memory that cannot be read",
            "at frame 10"}),
    [](const auto& row) { return std::string(row.param.breach); });

TEST_F(BreachTest, AgainAfterTheEndMeansNotYet) {
  if (clip_.empty()) return;
  auto honest = Open("").value();
  auto late = Open("late").value();
  const StraightPass expected = DecodeStraight(honest);
  const StraightPass pass = DecodeStraight(late);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  ASSERT_EQ(expected.frames.size(), kFrames);
  EXPECT_EQ(pass.frames, expected.frames);
  EXPECT_TRUE(late.damage().empty());
  auto indexed = Open("late").value();
  const auto last = indexed.FrameAt(-1);
  ASSERT_TRUE(last) << last.error();
  EXPECT_EQ(See(*last), expected.frames.back());
}

TEST_F(BreachTest, FramesThatABackendLosesAreDamage) {
  if (clip_.empty()) return;
  auto video = Open("drop", OnCorrupt::kSkip).value();
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  uint64_t damaged = 0;
  for (const DamagedRange& range : video.damage()) damaged += range.frames;
  EXPECT_GT(damaged, 0u);
  EXPECT_EQ(pass.frames.size() + damaged, kFrames);
  EXPECT_EQ(video.FrameCount().value(), kFrames);
  auto indexed = Open("drop").value();
  const auto lost =
      indexed.FrameAt(static_cast<int64_t>(*video.damage()[0].first_frame));
  ASSERT_EQ(lost ? Code::kOk : lost.error().code(), Code::kBadInput);
  EXPECT_THAT(
      lost.error().message(),
      AllOf(HasSubstr("is missing: no picture came back for the packet; "
                      "backend breaker gave neither a picture nor an "
                      "error for it"),
            Not(HasSubstr("is damaged;"))));
}

// The headers of keyframes of H.264, HEVC, VP8 and VP9 show whether a backend
// or the file is to blame. For other codecs, the error names both.
TEST_F(BreachTest, ABackendThatGivesNoFrameIsNamedForEachCodec) {
  std::vector<std::string> files;
  for (const SampleFile& file : MediaFiles()) {
    for (const char* name :
         {"mp4ff__av1.ivf", "media__hdr10-av1.mp4", "derived__mjpeg_avi.avi",
          "gstreamer__theora-vorbis.ogg", "format-corpus__xdcam-ex-1080i50.mov",
          "media__bbb_176x144_192kbps_15fps_mpeg4.mp4"}) {
      if (file.name == name) files.push_back(file.path);
    }
  }
  if (const auto made = Generate(Clip::kMpeg2)) files.push_back(*made);
  const auto vp9 = Generate(Clip::kVp9);
  if (!vp9 && files.empty()) GTEST_SKIP() << WhyNoSamples();
  const auto open = [this](const std::string& file) {
    const auto video = host_->OpenVideo(
        file,
        {.device = "breaker", .backend_options = {{"breach", "no_frame"}}});
    return video ? Status() : video.error();
  };
  if (vp9) {
    const Status failure = open(*vp9);
    EXPECT_EQ(failure.code(), Code::kBackendMisbehaved) << failure;
    EXPECT_THAT(failure.message(),
                HasSubstr("also a keyframe with sound headers"));
  }
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const Status failure = open(file);
    EXPECT_EQ(failure.code(), Code::kBadInput) << failure;
    EXPECT_THAT(failure.message(),
                HasSubstr("backend breaker gave neither a picture nor an error "
                          "for any packet"));
  }
}

// A loss was reported before it is known that the frame only comes much later.
TEST_F(BreachTest, AFrameThatComesMuchLaterIsNoDamage) {
  if (clip_.empty()) return;
  auto video = Open("much_later", OnCorrupt::kSkip).value();
  const Status status = DecodeStraight(video).failure;
  EXPECT_EQ(status.code(), Code::kBackendMisbehaved) << status;
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("after one with a later timestamp"),
                    HasSubstr("\"the next frame in display order\"")));
}

// Each packet has one frame, whatever a backend makes of its timestamps.
TEST_F(BreachTest, ASecondFrameOfAPacketIsLeftOut) {
  if (clip_.empty()) return;
  for (const OnCorrupt on_corrupt : {OnCorrupt::kSkip, OnCorrupt::kShow}) {
    auto video = Open("time_of_another", on_corrupt).value();
    const StraightPass pass = DecodeStraight(video);
    EXPECT_TRUE(pass.failure.ok()) << pass.failure;
    ASSERT_EQ(video.damage().size(), 1u);
    EXPECT_EQ(video.damage()[0].frames, 1u);
    EXPECT_EQ(pass.frames.size() + 1, kFrames);
    EXPECT_EQ(video.FrameCount().value(), kFrames);
  }
}

// What the backend said is quoted as its own words, on one bounded line, where
// the error is reported and in the list of damage.
TEST_F(BreachTest, WhatABackendSaysOfDamageIsQuoted) {
  if (clip_.empty()) return;
  const Status status = Play("reject");
  EXPECT_EQ(status.code(), Code::kBadInput);
  EXPECT_THAT(
      status.message(),
      AllOf(HasSubstr("is damaged: the decoder rejected the packet; backend "
                      "breaker says: \"packet "),
            HasSubstr(" has ?[2Jno slices!!!"), HasSubstr("!\"; read")));
  EXPECT_LT(status.message().size(), 1000u);

  auto video = Open("reject", OnCorrupt::kSkip).value();
  EXPECT_TRUE(DecodeStraight(video).failure.ok());
  const std::vector<DamagedRange> damage = video.damage();
  ASSERT_FALSE(damage.empty());
  EXPECT_THAT(damage[0].backend_says, HasSubstr(" has ?[2Jno slices!!!"));
  EXPECT_EQ(damage[0].backend_says.size(), 480u);

  auto indexed = Open("reject").value();
  const auto lost = static_cast<int64_t>(damage[0].first_frame.value());
  for (int visit = 0; visit < 2; ++visit) {
    const auto frame = indexed.FrameAt(lost);
    ASSERT_FALSE(frame);
    EXPECT_THAT(frame.error().message(), HasSubstr("backend breaker says: "));
  }
}

// [bad-2]: a backend that finds the damage later need not say where it was.
TEST_F(BreachTest, DamageThatIsFoundLateBelongsToThePacketWithoutAFrame) {
  if (clip_.empty()) return;
  auto video = Open("reject_late", OnCorrupt::kSkip).value();
  const StraightPass pass = DecodeStraight(video);
  EXPECT_TRUE(pass.failure.ok()) << pass.failure;
  const std::vector<DamagedRange> damage = video.damage();
  ASSERT_FALSE(damage.empty());
  EXPECT_EQ(damage[0].first_frame, 9u);
  EXPECT_EQ(damage[0].backend_says, "a tile is torn");
  uint64_t damaged = 0;
  for (const DamagedRange& range : damage) damaged += range.frames;
  EXPECT_EQ(pass.frames.size() + damaged, kFrames);
}

}  // namespace
}  // namespace bulkhead::tests
