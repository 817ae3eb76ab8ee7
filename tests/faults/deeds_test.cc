// SPDX-License-Identifier: Apache-2.0
//
// Tests each deed that a vendor can do through the C ABI, at each function and
// in each life. The call ends with the documented code within its deadline and
// leaves nothing over. Another session of the same Host decodes all the while,
// and its frames do not change by a byte.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/neighbour.h"
#include "tests/support/rows.h"
#include "tests/support/sanitizers.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Time for three attempts at the longest deadline on a busy machine.
constexpr milliseconds kLimit = kSlowdown * milliseconds(60'000);
constexpr uint64_t kFrames = 120;

enum class Act { kPlay, kPlayUnscaled, kJump, kPlayTwice };

struct Row {
  const char* name;
  const char* faults;
  Code code;
  // A part of the error message.
  const char* says = "";
  Act act = Act::kPlay;
  // The number of frames that are decoded if the stream does not fail.
  uint64_t frames = kFrames;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

Status Play(VideoDecoder& video, uint64_t expected) {
  uint64_t frames = 0;
  for (;;) {
    auto frame = video.Next();
    if (!frame) return std::move(frame).error();
    if (!*frame) break;
    ++frames;
  }
  EXPECT_EQ(frames, expected);
  return Status();
}

Status Perform(VideoDecoder& video, const Row& row) {
  if (row.act == Act::kJump) {
    const auto frame = video.FrameAt(100);
    return frame ? Status() : frame.error();
  }
  Status status = Play(video, row.frames);
  if (row.act != Act::kPlayTwice || !status.ok()) return status;
  video.Rewind();
  return Play(video, row.frames);
}

// Returns the row of tests/rows.txt that a deed belongs to, or 0.
int FaultOf(std::string_view deed) {
  if (deed.ends_with("_hang") || deed.ends_with("_spin")) return 16;
  if (deed.ends_with("_stop")) return 17;
  if (deed.ends_with("_slow")) return 19;
  if (deed.ends_with("_all_descriptors")) return 22;
  if (deed.ends_with("_all_memory")) return 24;
  return 0;
}

// Returns the deadline that ends a deed without end, or null.
milliseconds Deadlines::*MissedBy(std::string_view deed) {
  if (deed == "packet_spin_each") return &Deadlines::open;
  // Half of the shortest is what a backend has that is never ready.
  if (deed == "packet_again_for_ever") return &Deadlines::frame;
  if (FaultOf(deed) != 16 && FaultOf(deed) != 17) return nullptr;
  if (deed.starts_with("load_")) return &Deadlines::backend_start;
  if (deed.starts_with("probe_")) return &Deadlines::worker_start;
  if (deed.starts_with("open_")) return &Deadlines::open;
  // The decoder is closed on the way back to the first frame.
  if (deed.starts_with("flush_") || deed.starts_with("close_")) {
    return &Deadlines::seek;
  }
  return &Deadlines::frame;
}

class Deeds : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  std::string clip_;
};

TEST_P(Deeds, EndInTheirCodeAndHurtNobody) {
  const Row& row = GetParam();
  const std::string faults = row.faults;
  // Steps before any stream go into the script of the installation.
  const bool early =
      faults.starts_with("at=load") || faults.starts_with("at=probe");
  const ChaosInstallation installation(early ? faults : "");
  HostOptions options = installation.options();
  if (const auto missed = MissedBy(row.name); missed != nullptr) {
    options.deadlines.*missed = kShort;
  }
  const auto began = std::chrono::steady_clock::now();
  const Status status = ActBesideNeighbour(options, kLimit, [&](Host& host) {
    VideoOptions stream = installation.Stream(early ? "" : faults);
    stream.autoscale = row.act != Act::kPlayUnscaled;
    auto video = host.OpenVideo(clip_, std::move(stream));
    return video ? Perform(*video, row) : std::move(video).error();
  });
  const auto took = std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now() - began);
  std::printf("%-38s %5d ms  %s\n", row.faults, static_cast<int>(took.count()),
              status.ToString().substr(0, 300).c_str());
  EXPECT_EQ(status.code(), row.code) << status;
  if (const int fault = FaultOf(row.name); fault != 0) {
    ExpectOutcome(Fault(fault), row.name, row.code, status);
  }
  EXPECT_NE(status.message().find(row.says), std::string::npos) << status;
  EXPECT_EQ(status.message().find_first_of("\x1b\n"), std::string::npos);
  EXPECT_LT(status.message().size(), 4096u);
}

#define DEEDS(suite, ...)                         \
  INSTANTIATE_TEST_SUITE_P(                       \
      suite, Deeds, testing::Values(__VA_ARGS__), \
      [](const auto& info) { return std::string(info.param.name); })

DEEDS(WhileItIsLoaded,
      Row{"load_hang", "at=load do=hang", Code::kBackendUnavailable,
          "was not ready within"},
      Row{"load_spin", "at=load do=spin", Code::kBackendUnavailable,
          "was not ready within"},
      Row{"load_stop", "at=load do=stop", Code::kBackendUnavailable,
          "was not ready within"},
      Row{"load_throw", "at=load do=throw", Code::kBackendUnavailable,
          "threw: a vendor's exception"},
      Row{"load_no_table", "at=load do=null", Code::kBackendUnavailable,
          "returned no table"},
      Row{"load_slow", "at=load do=slow:500", Code::kOk},
      Row{"load_all_descriptors", "at=load do=take_descriptors",
          Code::kBackendUnavailable});

DEEDS(WhileItCountsItsDevices,
      Row{"probe_hang", "at=probe do=hang", Code::kBackendUnavailable,
          "took too long to count its devices"},
      Row{"probe_spin", "at=probe do=spin", Code::kBackendUnavailable,
          "took too long to count its devices"},
      Row{"probe_slow", "at=probe do=slow:300", Code::kOk},
      Row{"probe_throw", "at=probe do=throw", Code::kBackendUnavailable,
          "signal 6"},
      Row{"probe_error", "at=probe do=error:7", Code::kBackendUnavailable,
          "as its script says"},
      Row{"probe_none", "at=probe do=none", Code::kBackendUnavailable,
          "no device"},
      Row{"probe_many", "at=probe do=many", Code::kBackendUnavailable,
          "too many devices"},
      Row{"probe_stranger", "at=probe do=stranger", Code::kBackendUnavailable,
          "does not reserve"},
      Row{"probe_nameless", "at=probe do=nameless", Code::kBackendUnavailable,
          "does not reserve"},
      Row{"probe_null", "at=probe do=null", Code::kBackendUnavailable,
          "signal 11"});

DEEDS(WhileItOpens,
      Row{"open_hang", "at=open do=hang", Code::kDeadlineExceeded,
          "open the file"},
      Row{"open_spin", "at=open do=spin", Code::kDeadlineExceeded,
          "open the file"},
      Row{"open_stop", "at=open do=stop", Code::kDeadlineExceeded,
          "open the file"},
      Row{"open_slow", "at=open do=slow:500", Code::kOk},
      Row{"open_throw", "at=open do=throw", Code::kPoisonedInput, "signal 6"},
      Row{"open_unsupported", "at=open do=error:4", Code::kUnsupported,
          "the backend says: \"as its script says\""},
      Row{"open_no_memory", "at=open do=error:5", Code::kResourceExhausted,
          "the backend says: \"as its script says\""},
      // The backend was granted no device, so that it can lose none.
      Row{"open_device_lost", "at=open do=error:6", Code::kBackendLost,
          "as its script says\"; given up after 3 attempts, try another "
          "backend"},
      Row{"open_failed", "at=open do=error:7", Code::kBackendLost,
          "as its script says\"; given up after 3 attempts, try another "
          "backend"},
      Row{"open_unknown", "at=open do=error:99", Code::kBackendMisbehaved,
          "open returned 99"},
      Row{"open_no_decoder", "at=open do=null", Code::kBackendMisbehaved,
          "open returned BULKHEAD_OK and no decoder"},
      // A decoder may still fit into what the probing of the file has freed. A
      // failed allocation then makes its packets "invalid data" for it.
      Row{"open_all_memory", "at=open do=take_memory", Code::kResourceExhausted,
          "raise the limit worker_bytes"},
      // A session gets none.
      Row{"open_all_descriptors", "at=open do=take_descriptors", Code::kOk});

DEEDS(
    WhileItDecodes, Row{"packet_hang", "at=packet:30 do=hang", Code::kOk},
    Row{"packet_spin_each", "at=packet do=spin", Code::kDeadlineExceeded,
        "open the file"},
    Row{"packet_slow", "at=packet do=slow:5", Code::kOk},
    Row{"packet_throw", "at=packet:0 do=throw", Code::kPoisonedInput,
        "signal 6"},
    Row{"packet_leak", "at=packet do=leak:65536", Code::kOk},
    Row{"packet_again_once", "at=packet:20 do=error:1", Code::kOk},
    Row{"packet_again_for_ever", "at=packet do=error:1",
        Code::kBackendMisbehaved, "returned BULKHEAD_AGAIN for "},
    Row{"packet_all_damaged", "at=packet do=error:3", Code::kBadInput,
        "no frame"},
    Row{"packet_no_memory", "at=packet:20 do=error:5", Code::kResourceExhausted,
        "the backend says: \"as its script says\""},
    Row{"packet_device_lost", "at=packet:0 do=error:6", Code::kBackendLost,
        "the last with timestamp 0, byte 48 of the file; given up after 3 "
        "attempts, try another backend"},
    Row{"packet_failed", "at=packet:0 do=error:7", Code::kBackendLost,
        "because its backend failed, by its own account: chaos: "
        "send_packet: failed; the backend says: \"as its script says\""},
    Row{"packet_failed_once", "at=packet:60 do=error:7 lives=1", Code::kOk},
    Row{"packet_unknown", "at=packet:20 do=error:-5", Code::kBackendMisbehaved,
        "send_packet returned -5"},
    // The decoder has all the memory it needs by then. A worker decodes ahead,
    // and may go back and open it again before the first frame is asked for.
    Row{"packet_all_memory", "at=packet:60 do=take_memory", Code::kOk},
    Row{"packet_all_descriptors", "at=packet:20 do=take_descriptors",
        Code::kOk},
    Row{"end_hang", "at=end do=hang", Code::kDeadlineExceeded,
        "decode the next frame"},
    Row{"end_error", "at=end do=error:7", Code::kBackendLost,
        "the backend says: \"as its script says\""},
    Row{"flush_hang", "at=flush do=hang", Code::kDeadlineExceeded,
        "deadline seek", Act::kJump},
    Row{"flush_spin", "at=flush do=spin", Code::kDeadlineExceeded,
        "deadline seek", Act::kJump},
    Row{"close_hang", "at=close do=hang", Code::kOk, "", Act::kPlayTwice});

DEEDS(WithAPicture,
      Row{"picture_failed", "at=picture:8192 do=error:7", Code::kBackendLost,
          "at frame 16: it exited because its backend failed, by its own "
          "account: chaos: receive_frame: failed"},
      Row{"picture_all_damaged", "at=picture do=error:3", Code::kBadInput,
          "no frame"},
      Row{"picture_no_planes", "at=picture:8192 do=null",
          Code::kBackendMisbehaved, "with 0 of its 3 planes"},
      Row{"picture_no_format", "at=picture:8192 do=no_format",
          Code::kBackendMisbehaved, "without a size or pixel format"},
      Row{"picture_unknown_format", "at=picture:8192 do=unknown_format",
          Code::kBackendMisbehaved, "gave a picture in the format "},
      Row{"picture_empty", "at=picture:8192 do=empty", Code::kBackendMisbehaved,
          "without a size or pixel format"},
      Row{"picture_huge", "at=picture:8192 do=huge", Code::kResourceExhausted,
          "--limit frame-pixels=N"},
      Row{"picture_narrow", "at=picture:8192 do=narrow",
          Code::kBackendMisbehaved, "a stride of 1 for rows of 320 bytes"},
      // Later pictures are scaled to the size of the first.
      Row{"picture_other_size", "at=picture:8192 do=other", Code::kOk},
      // Without autoscale, frames keep their own size.
      Row{"picture_other_size_unscaled", "at=picture:8192 do=other", Code::kOk,
          "", Act::kPlayUnscaled},
      Row{"picture_huge_unscaled", "at=picture:8192 do=huge",
          Code::kResourceExhausted, "--limit frame-pixels=N",
          Act::kPlayUnscaled},
      // The second picture of a packet is left out.
      Row{"picture_twice", "at=picture:8192 do=twice", Code::kOk},
      Row{"picture_other_pts", "at=picture:8192 do=pts:-7",
          Code::kBackendMisbehaved, "the timestamp -7, which no packet has"},
      Row{"picture_no_pts", "at=picture do=no_pts", Code::kBackendMisbehaved,
          "gave a picture with no timestamp"},
      Row{"picture_stray_buffers", "at=picture do=stray",
          Code::kBackendMisbehaved, "not in the buffer that it names"});

}  // namespace
}  // namespace bulkhead::tests
