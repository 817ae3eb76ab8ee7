// SPDX-License-Identifier: Apache-2.0
//
// Tests the host against workers that lie. For each lie, the call ends with the
// right code within its deadlines and leaves nothing over. Another session of
// the same Host decodes all the while, and its frames do not change by a byte.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bulkhead/host.h"
#include "tests/liars/lying_installation.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/high_water.h"
#include "tests/support/neighbour.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"
#include "tests/support/sanitizers.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Time for three attempts at the longest deadline on a busy machine.
constexpr milliseconds kLimit = kSlowdown * milliseconds(60'000);
constexpr int kMadeUpFrames = 24;
// What a storm, its restarts and the sessions beside it may add to a trusted
// process.
constexpr int64_t kMostGrowthKib = 8 * 1024;
constexpr int64_t kMostDescriptors = 64;

class LiarsTest : public ::testing::Test {
 protected:
  // The clip of the neighbour, which ffmpeg makes.
  void SetUp() override { (void)ClipOrSkip(Clip::kOddSize); }
};

enum class Act {
  kDecode,
  kDecodeNative,
  kDecodeOwnSizes,
  kDecodeOwnNative,
  kCount,
  kFrameAt,
  kListen,
  kListenTo450
};

// Has a scan without end end in its error soon.
void BoundIndex(HostOptions& options) {
  options.limits.index_frames = uint64_t{1} << 18;
}

Status Decode(VideoDecoder& video) {
  int frames = 0;
  for (;;) {
    auto frame = video.Next();
    if (!frame) return frame.error();
    if (!*frame) break;
    ++frames;
  }
  if (frames == kMadeUpFrames) return Status();
  return Status(Code::kInternal,
                "ended in silence after frame " + std::to_string(frames));
}

// Decodes audio. Expects that all delivered samples are the stream's.
Status Listen(Host& host, const std::string& media, const std::string& device,
              Act act) {
  auto audio = host.OpenAudio(media, {.device = device});
  if (!audio) return audio.error();
  const double rate = audio->metadata().sample_rate;
  const auto samples = act == Act::kListen
                           ? audio->AllSamples()
                           : audio->SamplesPlayedInRange(50 / rate, 500 / rate);
  if (!samples) return samples.error();
  const int64_t first = act == Act::kListen ? 0 : 50;
  EXPECT_EQ(samples->channels, 2u);
  for (uint32_t channel = 0; channel < samples->channels; ++channel) {
    for (size_t i = 0; i < samples->count(); ++i) {
      const float sample = samples->channel(channel)[i];
      if (std::isfinite(sample)) {
        EXPECT_EQ(sample, static_cast<float>(first + static_cast<int64_t>(i)));
      }
    }
  }
  return Status();
}

Status Perform(Host& host, const std::string& media, const std::string& device,
               Act act) {
  if (act == Act::kListen || act == Act::kListenTo450) {
    return Listen(host, media, device, act);
  }
  const bool native = act == Act::kDecodeNative || act == Act::kDecodeOwnNative;
  const bool own_sizes =
      act == Act::kDecodeOwnSizes || act == Act::kDecodeOwnNative;
  auto video = host.OpenVideo(
      media,
      {.device = device,
       .output_format = native ? OutputFormat::kNative : OutputFormat::kRgb,
       .autoscale = !own_sizes});
  if (!video) return video.error();
  switch (act) {
    case Act::kDecode:
    case Act::kDecodeNative:
    case Act::kDecodeOwnSizes:
    case Act::kDecodeOwnNative:
      return Decode(*video);
    case Act::kCount: {
      const auto count = video->FrameCount();
      return count ? Status() : count.error();
    }
    case Act::kFrameAt: {
      const auto frame = video->FrameAt(20);
      return frame ? Status() : frame.error();
    }
    case Act::kListen:
    case Act::kListenTo450:
      break;
  }
  return Status();
}

struct Row {
  const char* lie;
  Code code;
  // A part of the error message.
  const char* says = "";
  Act act = Act::kDecode;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.lie; }

// Shortens the deadline that ends the silence of a worker or a zygote, if the
// lie is one or may be followed by it.
void ShortenWhatEnds(std::string_view lie, Code code, Deadlines& deadlines) {
  if (code != Code::kDeadlineExceeded && !lie.ends_with("_never") &&
      !lie.ends_with("_silent") && !lie.ends_with("_never_attached_once") &&
      lie != "frame_twice" && lie != "size_differs_once") {
    return;
  }
  const std::string_view step = lie.substr(0, lie.find('_'));
  if (step == "ready") {
    deadlines.backend_start = kShort;
  } else if (step == "probe" || step == "clone" || step == "hello" ||
             step == "pool" || lie == "open_deaf") {
    deadlines.worker_start = kShort;
  } else if (step == "open" || lie == "audio_open_silent") {
    deadlines.open = kShort;
  } else if (step == "scan") {
    deadlines.scan = kShort;
  } else {
    deadlines.seek = kShort;
    deadlines.frame = kShort;
  }
}

class LieTest : public LiarsTest, public ::testing::WithParamInterface<Row> {};

// The rows of tests/rows.txt that a lie proves by its code.
struct Proof {
  TableRow row;
  std::vector<std::string_view> lies;
};

const std::vector<Proof>& Proofs() {
  static const std::vector<Proof> proofs = {
      {Escape(60), {"hello_descriptor"}},
      {Escape(62),
       {"open_no_pixels", "open_huge", "frame_slot_beyond",
        "frame_stride_small", "frame_stride_overflows", "frame_stride_beyond",
        "frame_other_width"}},
      {Escape(63), {"frame_twice", "frame_wrong_generation"}},
      {Escape(64),
       {"ring_length_huge", "ring_length_beyond", "ring_root_outside",
        "hello_garbage", "hello_cut_off", "hello_segments",
        "hello_all_segments", "hello_cycle", "hello_nested", "scan_cycle",
        "scan_nested", "scan_far_segment", "scan_void_list",
        "unseen_void_list"}},
      {Escape(65),
       {"open_other_answer", "open_twice", "play_unasked", "hello_version",
        "hello_twice", "ring_unknown_reply", "scan_capability",
        "play_stale_storm", "frame_of_the_future"}},
      {Escape(66), {"hello_descriptor"}},
      {Escape(67),
       {"probe_stranger", "frame_of_the_future", "seek_early_frames",
        "open_no_time_base", "audio_not_a_number"}},
      {Escape(72), {"faults_unhandled"}},
      {Escape(68),
       {"open_silent", "frame_silent", "play_stale_storm", "clone_pid_own"}},
      {Fault(3), {"hello_cut_off"}},
      {Fault(4), {"ready_unlocked", "lockdown_half"}},
      {Fault(7), {"play_death"}},
      {Fault(20),
       {"ready_garbage", "open_index_end", "ring_length_huge", "ready_trickle",
        "hello_trickle", "ring_trickle"}},
      {Fault(21), {"hello_closed", "open_deaf"}},
      {Fault(26), {"scan_empty_storm"}},
      {Fault(27), {"frame_wrong_generation", "ring_read_ahead"}},
      {Fault(28), {"ring_cursor_back", "frame_slot_beyond"}},
      {Fault(51), {"hello_version"}},
  };
  return proofs;
}

TEST_P(LieTest, EndsInItsCodeAndHurtsNobody) {
  const Row& row = GetParam();
  const LyingInstallation installation({row.lie});
  HostOptions options = installation.options();
  if (row.code == Code::kResourceExhausted) BoundIndex(options);
  ShortenWhatEnds(row.lie, row.code, options.deadlines);
  const Status status = ActBesideNeighbour(options, kLimit, [&](Host& host) {
    return Perform(host, installation.media(), row.lie, row.act);
  });
  EXPECT_EQ(status.code(), row.code) << status;
  for (const auto& [table_row, lies] : Proofs()) {
    if (std::find(lies.begin(), lies.end(), row.lie) == lies.end()) continue;
    ExpectOutcome(table_row, row.lie, row.code, status);
  }
  EXPECT_NE(status.message().find(row.says), std::string::npos) << status;
  EXPECT_EQ(status.message().find_first_of("\x1b\n"), std::string::npos);
  EXPECT_LT(status.message().size(), 4096u);
}

std::string NameOf(const ::testing::TestParamInfo<Row>& row) {
  return row.param.lie;
}

#define LIES(suite, ...)                                                   \
  INSTANTIATE_TEST_SUITE_P(suite, LieTest, ::testing::Values(__VA_ARGS__), \
                           NameOf)

LIES(Honest, Row{"honest", Code::kOk},
     Row{"honest_count", Code::kOk, "", Act::kCount},
     Row{"honest_frame_at", Code::kOk, "", Act::kFrameAt},
     Row{"honest_listen", Code::kOk, "", Act::kListen},
     Row{"honest_listen_to_450", Code::kOk, "", Act::kListenTo450});

constexpr const char* kCannotLoad = "Failed to load the backend extension: ";

LIES(ZygoteBeforeReady,
     Row{"ready_never", Code::kBackendUnavailable, "was not ready within"},
     Row{"ready_exit", Code::kBackendUnavailable, "exited with code 7"},
     Row{"ready_death", Code::kBackendUnavailable, "signal 11"},
     Row{"ready_failed", Code::kBackendUnavailable, "no ?[2J licence"},
     Row{"ready_garbage", Code::kBackendUnavailable, kCannotLoad},
     Row{"ready_twice", Code::kBackendUnavailable, "twice"},
     Row{"ready_storm", Code::kBackendUnavailable, "was not asked"},
     Row{"ready_unlocked", Code::kSandboxUnavailable, kCannotLoad});

LIES(ZygoteClonesProbe,
     Row{"probe_never", Code::kBackendUnavailable, kCannotLoad},
     Row{"probe_death", Code::kBackendUnavailable, "signal 11"},
     Row{"probe_pid_one", Code::kBackendUnavailable, "impossible process"},
     Row{"probe_pid_negative", Code::kBackendUnavailable, "impossible process"},
     Row{"probe_pid_own", Code::kBackendUnavailable, "not its own"},
     Row{"probe_pid_nobody", Code::kBackendUnavailable, "not its own"});

LIES(Probe, Row{"probe_silent", Code::kBackendUnavailable, "took too long"},
     Row{"probe_exit", Code::kBackendUnavailable, "died while it counted"},
     Row{"probe_garbage", Code::kBackendUnavailable, kCannotLoad},
     Row{"probe_none", Code::kBackendUnavailable, "no device"},
     Row{"probe_many", Code::kBackendUnavailable, "too many devices"},
     Row{"probe_stranger", Code::kBackendUnavailable, "str?[2Janger"},
     Row{"probe_failed", Code::kBackendUnavailable, "no ?[2J driver"},
     // A crash of which the reaper knows nothing.
     Row{"probe_crashed", Code::kBackendUnavailable, "exited with code 0"});

LIES(ZygoteClonesSession,
     Row{"clone_never", Code::kBackendLost, "did not help to clone"},
     Row{"clone_death", Code::kBackendLost, "signal 11"},
     Row{"clone_pid_one", Code::kBackendMisbehaved},
     Row{"clone_pid_own", Code::kBackendMisbehaved},
     Row{"clone_pid_nobody", Code::kBackendMisbehaved},
     Row{"clone_garbage", Code::kBackendMisbehaved},
     Row{"clone_spare", Code::kBackendLost, "system call clone"},
     Row{"clone_unnamed", Code::kBackendUnavailable,
         "could not clone a worker, and says: \"no memory\""},
     Row{"filter_logs", Code::kBackendLost, "system call seccomp"},
     // It never gets its socket.
     Row{"lockdown_half", Code::kBackendLost, "exited with code 0"},
     Row{"faults_unhandled", Code::kSandboxUnavailable,
         "other signals than those of faults"},
     Row{"clone_keeps_files", Code::kBackendLost, "system call seccomp"},
     Row{"clone_looks_for_socket", Code::kOk},
     Row{"memory_unlimited", Code::kSandboxUnavailable,
         "its memory is not limited"},
     Row{"address_space_unlimited", Code::kSandboxUnavailable,
         "its memory is not limited"});

LIES(Hello, Row{"hello_none", Code::kDeadlineExceeded},
     Row{"hello_death", Code::kBackendLost, "signal 11"},
     Row{"hello_version", Code::kBackendMisbehaved, "version"},
     Row{"hello_garbage", Code::kBackendMisbehaved},
     Row{"hello_cut_off", Code::kBackendMisbehaved},
     Row{"hello_refusal", Code::kBackendMisbehaved, "refused the only session"},
     // The sandbox lets no descriptor out.
     Row{"hello_descriptor", Code::kDeadlineExceeded},
     // Nor does it let anybody close the socket.
     Row{"hello_closed", Code::kDeadlineExceeded});

LIES(Open, Row{"open_silent", Code::kDeadlineExceeded, "open the file"},
     Row{"open_death", Code::kPoisonedInput, "signal 11"},
     Row{"open_exit_0", Code::kPoisonedInput, "exited with code 0"},
     Row{"open_violation", Code::kPoisonedInput, "killed by its sandbox"},
     Row{"open_no_pixels", Code::kBackendMisbehaved},
     Row{"open_huge", Code::kBackendMisbehaved},
     Row{"open_above_limit", Code::kBackendMisbehaved},
     Row{"open_no_time_base", Code::kBackendMisbehaved},
     Row{"open_stream_beyond", Code::kBackendMisbehaved},
     Row{"open_stream_negative", Code::kBackendMisbehaved},
     Row{"open_rotation", Code::kBackendMisbehaved},
     Row{"open_other_type", Code::kBackendMisbehaved},
     Row{"open_unknown_type", Code::kBackendMisbehaved},
     Row{"open_not_upright", Code::kBackendMisbehaved},
     Row{"open_failed_late", Code::kBackendMisbehaved},
     Row{"open_failed_unknown", Code::kBackendMisbehaved},
     Row{"open_failed_honestly", Code::kBadInput, "cut ?[2J off"},
     Row{"open_other_answer", Code::kBackendMisbehaved},
     // It cannot close its socket, but takes no pool.
     Row{"open_deaf", Code::kDeadlineExceeded, "map the frame pool"},
     Row{"open_index_end", Code::kBackendMisbehaved},
     Row{"open_frame", Code::kBackendMisbehaved});

LIES(Pool, Row{"pool_silent", Code::kDeadlineExceeded},
     Row{"pool_death", Code::kPoisonedInput},
     Row{"pool_frame", Code::kBackendMisbehaved},
     Row{"pool_other_answer", Code::kBackendMisbehaved},
     Row{"pool_failed", Code::kBadInput, "no room"});

LIES(Play, Row{"play_silent", Code::kDeadlineExceeded},
     Row{"play_death", Code::kPoisonedInput},
     Row{"play_paused", Code::kBackendMisbehaved},
     Row{"play_failed_late", Code::kBackendMisbehaved},
     Row{"play_unasked", Code::kBackendMisbehaved},
     Row{"play_full_eventfd", Code::kOk}, Row{"play_always_asleep", Code::kOk},
     Row{"play_wakes", Code::kDeadlineExceeded},
     Row{"play_stale_storm", Code::kDeadlineExceeded});

LIES(Ring, Row{"ring_cursor_ahead", Code::kBackendMisbehaved},
     Row{"ring_cursor_unaligned", Code::kBackendMisbehaved},
     Row{"ring_cursor_back", Code::kBackendMisbehaved},
     Row{"ring_length_zero", Code::kBackendMisbehaved},
     Row{"ring_length_huge", Code::kBackendMisbehaved},
     Row{"ring_length_beyond", Code::kBackendMisbehaved},
     Row{"ring_skip_to_nothing", Code::kBackendMisbehaved},
     Row{"ring_root_outside", Code::kBackendMisbehaved},
     Row{"ring_unknown_reply", Code::kBackendMisbehaved},
     Row{"ring_read_ahead", Code::kBackendMisbehaved},
     Row{"ring_read_in_secret", Code::kBackendMisbehaved});

LIES(Frame, Row{"frame_silent", Code::kDeadlineExceeded, "next frame"},
     Row{"frame_death", Code::kPoisonedInput,
         "at frame 3: it was ended by signal 11"},
     Row{"frame_slot_beyond", Code::kBackendMisbehaved},
     Row{"frame_wrong_generation", Code::kBackendMisbehaved},
     Row{"frame_twice", Code::kBackendMisbehaved},
     Row{"frame_stride_small", Code::kBackendMisbehaved},
     Row{"frame_stride_overflows", Code::kBackendMisbehaved},
     Row{"frame_stride_beyond", Code::kBackendMisbehaved},
     Row{"frame_other_width", Code::kBackendMisbehaved},
     Row{"frame_of_the_future", Code::kBackendMisbehaved});

constexpr Act kNative = Act::kDecodeNative;

LIES(Native, Row{"honest_native", Code::kOk, "", kNative},
     Row{"native_format_unknown", Code::kBackendMisbehaved, "pixel format",
         kNative},
     Row{"native_format_of_a_device", Code::kBackendMisbehaved, "pixel format",
         kNative},
     Row{"native_format_none", Code::kBackendMisbehaved, "pixel format",
         kNative},
     Row{"native_floats", Code::kBackendMisbehaved, "another type", kNative},
     Row{"native_stride_larger", Code::kBackendMisbehaved, "where they must be",
         kNative},
     Row{"native_stride_none", Code::kBackendMisbehaved, "where they must be",
         kNative},
     Row{"native_larger", Code::kBackendMisbehaved, "another size", kNative},
     Row{"native_greedy", Code::kResourceExhausted, "frame_slots", kNative},
     Row{"native_never_content", Code::kDeadlineExceeded, "next frame",
         kNative},
     Row{"rgb_needs_slot", Code::kBackendMisbehaved, "for RGB"},
     Row{"native_range", Code::kBackendMisbehaved, "colours", kNative},
     Row{"native_chroma", Code::kBackendMisbehaved, "colours", kNative});

constexpr Act kOwn = Act::kDecodeOwnSizes;
constexpr Act kOwnNative = Act::kDecodeOwnNative;
constexpr const char* kNoNeed = "larger slots that it cannot need";

LIES(OwnSizes, Row{"honest_own_sizes", Code::kOk, "", kOwn},
     Row{"honest_own_native", Code::kOk, "", kOwnNative},
     Row{"size_beyond_slot", Code::kBackendMisbehaved, "not lie in its slot",
         kOwn},
     Row{"size_beyond_slot_native", Code::kBackendMisbehaved,
         "where they must be", kOwnNative},
     Row{"size_beyond_limit", Code::kBackendMisbehaved, "beyond the limit",
         kOwn},
     Row{"size_none", Code::kBackendMisbehaved, "beyond the limit", kOwn},
     Row{"size_wider_than_its_rows", Code::kBackendMisbehaved,
         "not lie in its slot", kOwn},
     Row{"size_format_unknown", Code::kBackendMisbehaved, "pixel format",
         kOwnNative},
     Row{"size_format_none", Code::kBackendMisbehaved, "pixel format",
         kOwnNative},
     Row{"size_format_beyond_slot", Code::kBackendMisbehaved,
         "where they must be", kOwnNative},
     // Without the option, a frame has the size of the first.
     Row{"size_smaller", Code::kBackendMisbehaved, "another size"},
     Row{"size_differs_once", Code::kBadInput, "pictures differ", kOwn},
     Row{"size_grows", Code::kOk, "", kOwn},
     Row{"pool_with_autoscale", Code::kBackendMisbehaved, kNoNeed},
     Row{"pool_that_it_has", Code::kBackendMisbehaved, kNoNeed, kOwn},
     Row{"pool_beyond_limit", Code::kBackendMisbehaved, "beyond the limit",
         kOwn},
     Row{"pool_of_no_size", Code::kBackendMisbehaved, "beyond the limit", kOwn},
     Row{"pool_twice", Code::kBackendMisbehaved, kNoNeed, kOwn},
     Row{"pool_twice_in_a_row", Code::kBackendMisbehaved,
         "did not attach the pool", kOwn},
     Row{"pool_greedy", Code::kResourceExhausted, "session_bytes", kOwn},
     Row{"pool_never_attached", Code::kDeadlineExceeded, "map the frame pool",
         kOwn},
     Row{"pool_dies", Code::kPoisonedInput, "at frame 3", kOwn},
     Row{"pool_dies_once", Code::kOk, "", kOwn},
     Row{"pool_never_attached_once", Code::kOk, "", kOwn},
     Row{"pool_of_before", Code::kBackendMisbehaved, "slot", kOwn});

LIES(Encoding, Row{"hello_segments", Code::kBackendMisbehaved},
     Row{"hello_all_segments", Code::kBackendMisbehaved},
     Row{"hello_cycle", Code::kBackendMisbehaved},
     Row{"hello_nested", Code::kBackendMisbehaved},
     Row{"hello_trickle", Code::kBackendMisbehaved},
     Row{"ready_trickle", Code::kBackendUnavailable},
     // Nobody reads what follows a greeting there.
     Row{"hello_twice", Code::kOk}, Row{"open_twice", Code::kBackendMisbehaved},
     Row{"ring_trickle", Code::kBackendMisbehaved},
     Row{"scan_cycle", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_nested", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_far_segment", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_capability", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_void_list", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"unseen_void_list", Code::kBackendMisbehaved});

LIES(Scan, Row{"scan_silent", Code::kDeadlineExceeded, "scan", Act::kCount},
     Row{"scan_death", Code::kPoisonedInput, "", Act::kCount},
     Row{"scan_part_of_entry", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_other_answer", Code::kBackendMisbehaved, "", Act::kCount},
     Row{"scan_endless", Code::kResourceExhausted, "", Act::kCount},
     Row{"scan_empty_storm", Code::kBackendMisbehaved, "an empty part",
         Act::kCount},
     Row{"scan_stale_storm", Code::kDeadlineExceeded, "", Act::kCount});

LIES(Unseen, Row{"entered_not", Code::kBackendMisbehaved, "where it began"},
     Row{"entered_twice", Code::kBackendMisbehaved},
     Row{"entered_elsewhere", Code::kBackendMisbehaved, "another place"},
     Row{"unseen_asked_for", Code::kBackendMisbehaved, "left out a frame"},
     Row{"unseen_unknown_fate", Code::kBackendMisbehaved, "fate"},
     Row{"unseen_unknown_sign", Code::kBackendMisbehaved, "known sign"},
     Row{"unseen_note_for_damage", Code::kBackendMisbehaved, "as a note"},
     Row{"unseen_damage_for_note", Code::kBackendMisbehaved, "as a note"},
     Row{"unseen_note_storm", Code::kResourceExhausted, "index_frames"},
     Row{"frame_damaged_by_note", Code::kBackendMisbehaved, "known sign"},
     Row{"unseen_none", Code::kBackendMisbehaved, "number of frames"},
     Row{"unseen_beyond_the_file", Code::kResourceExhausted, "index_frames"},
     Row{"unseen_storm", Code::kBadInput, "damaged"},
     Row{"gap_of_nothing", Code::kBackendMisbehaved, "number of frames"},
     Row{"gap_too_large", Code::kBackendMisbehaved, "number of frames"},
     Row{"gap_in_a_whole_file", Code::kBackendMisbehaved, "not cut off"});

LIES(Seek, Row{"seek_paused", Code::kBackendMisbehaved, "", Act::kFrameAt},
     Row{"seek_early_frames", Code::kBackendMisbehaved, "", Act::kFrameAt},
     Row{"seek_elsewhere", Code::kBackendMisbehaved, "another place",
         Act::kFrameAt});

constexpr Code kLied = Code::kBackendMisbehaved;
constexpr Act kListen = Act::kListen;

LIES(AudioOpen,
     Row{"audio_open_silent", Code::kDeadlineExceeded, "open the file",
         kListen},
     Row{"audio_open_no_channels", kLied, "impossible rate", kListen},
     Row{"audio_open_many_channels", kLied, "impossible rate", kListen},
     Row{"audio_open_all_channels", kLied, "impossible rate", kListen},
     Row{"audio_open_no_rate", kLied, "impossible rate", kListen},
     Row{"audio_open_huge_rate", kLied, "impossible rate", kListen},
     Row{"audio_open_other_rate", kLied, "other samples", kListen},
     Row{"audio_open_other_channels", kLied, "other samples", kListen},
     Row{"audio_open_no_time_base", kLied, "no time base", kListen},
     Row{"audio_open_stream_beyond", kLied, "does not exist", kListen},
     Row{"audio_open_stream_negative", kLied, "does not exist", kListen},
     Row{"audio_open_many_streams", kLied, "more streams", kListen},
     Row{"audio_open_video", kLied, "something else", kListen});

LIES(AudioSamples,
     Row{"audio_silent", Code::kDeadlineExceeded, "next samples", kListen},
     Row{"audio_overlap", kLied, "another place", kListen},
     Row{"audio_backwards", kLied, "another place", kListen},
     Row{"audio_gap", kLied, "another place", kListen},
     Row{"audio_before_the_first", kLied, "another place", kListen},
     Row{"audio_none", kLied, "do not fit", kListen},
     Row{"audio_beyond_the_slot", kLied, "do not fit", kListen},
     Row{"audio_all_samples", kLied, "do not fit", kListen},
     Row{"audio_beyond_the_range", kLied, "another place", Act::kListenTo450},
     Row{"audio_slot_beyond", kLied, "", kListen},
     Row{"audio_wrong_generation", kLied, "", kListen},
     Row{"audio_of_the_future", kLied, "not asked yet", kListen},
     Row{"audio_of_the_past", kLied, "another place", kListen},
     Row{"audio_twice", kLied, "", kListen},
     Row{"audio_frame", kLied, "video for audio", kListen},
     Row{"audio_paused_early", kLied, "before it was done", kListen},
     Row{"audio_unasked", kLied, "nobody asked for", kListen},
     Row{"audio_skipping_beyond", kLied, "nearer", kListen},
     Row{"audio_skipping_negative", kLied, "nearer", kListen},
     Row{"audio_skipping_back", kLied, "nearer", Act::kListenTo450},
     Row{"audio_skipping_storm", kLied, "nearer", kListen},
     Row{"audio_lost_negative", kLied, "impossible place", kListen},
     Row{"audio_lost_none", kLied, "impossible place", kListen},
     Row{"audio_lost_beyond", kLied, "impossible place", kListen},
     Row{"audio_lost_twice", kLied, "impossible place", Act::kListenTo450},
     Row{"audio_lost_unknown_sign", kLied, "known sign", kListen},
     Row{"audio_note_of_samples", kLied, "impossible place", kListen},
     Row{"audio_note_negative", kLied, "impossible place", kListen},
     Row{"audio_note_storm", Code::kDeadlineExceeded, "next samples",
         Act::kListenTo450},
     Row{"audio_lost_storm", Code::kDeadlineExceeded, "next samples",
         Act::kListenTo450},
     Row{"audio_not_a_number", Code::kOk, "", kListen},
     Row{"audio_ends_early", Code::kOk, "", kListen});

// The lie is told for the spare worker, or for the second session if that comes
// before. In the first case the session is served by the next zygote.
TEST_F(LiarsTest, AnotherSessionsProcessIsNotTaken) {
  const LyingInstallation installation({"clone_pid_of_other"});
  (void)ActBesideNeighbour(installation.options(), kLimit, [&](Host& host) {
    const VideoOptions options{.device = "clone_pid_of_other"};
    auto first = host.OpenVideo(installation.media(), options);
    EXPECT_TRUE(first) << first.error();
    if (!first) return first.error();
    const auto second = host.OpenVideo(installation.media(), options);
    if (second) {
      EXPECT_NE(second->worker_pid(), first->worker_pid());
    } else {
      EXPECT_EQ(second.error().code(), Code::kBackendMisbehaved)
          << second.error();
    }
    const Status played = Decode(*first);
    EXPECT_TRUE(played.ok()) << played;
    return Status();
  });
}

// A worker may claim that it died over the frame after the one that the host
// waits for. It is believed once a session, by one frame: no session has more
// workers by that, and a frame is refused one session later at most.
TEST_F(LiarsTest, AClaimToBeAheadIsBounded) {
  for (const auto& [lie, code] :
       {std::pair{"frame_death_ahead_by_one", Code::kPoisonedInput},
        std::pair{"frame_death_ahead_by_two", Code::kPoisonedInput},
        std::pair{"frame_death_far_ahead", Code::kPoisonedInput},
        std::pair{"frame_death_behind", Code::kPoisonedInput},
        std::pair{"frame_silent_ahead", Code::kDeadlineExceeded}}) {
    const bool believed = std::string(lie) == "frame_death_ahead_by_one";
    const std::string device = lie;
    const LyingInstallation installation({device});
    HostOptions options = installation.options();
    ShortenWhatEnds(lie, code, options.deadlines);
    std::vector<uint32_t> restarts;
    const Status status = ActBesideNeighbour(options, kLimit, [&](Host& host) {
      Status decoded;
      for (int session = 0; session < 3; ++session) {
        auto video = host.OpenVideo(installation.media(), {.device = device});
        if (!video) return video.error();
        decoded = Decode(*video);
        restarts.push_back(video->recovery().restarts);
      }
      return decoded;
    });
    EXPECT_EQ(status.code(), code) << lie << ": " << status;
    EXPECT_NE(status.message().find("at frame 3 "), std::string::npos)
        << lie << ": " << status;
    // The second session's first worker is believed again, the next one makes
    // the third death at frame 3.
    EXPECT_EQ(restarts, (believed ? std::vector<uint32_t>{3, 2, 0}
                                  : std::vector<uint32_t>{3, 0, 0}))
        << lie;
  }
}

struct Claim {
  const char* lie;
  const char* says;  // empty: the claim is as it should be
};

// What is allowed holds in the host too: a worker that opens anything else, or
// another stream than the one that was asked for, is ended.
TEST_F(LiarsTest, AWorkerThatOpensWhatIsNotAllowedIsEnded) {
  for (const auto& [lie, says] :
       {Claim{"open_allowed", ""},
        Claim{"open_other_container", "a container that is not allowed"},
        Claim{"open_other_codec", "a codec that is not allowed"},
        Claim{"open_other_stream", "stream 1, and stream 0 was asked for"},
        Claim{"audio_open_allowed", ""},
        Claim{"audio_open_other_codec", "a codec that is not allowed"},
        Claim{"audio_open_other_stream",
              "stream 1, and stream 0 was asked for"}}) {
    const std::string device = lie;
    const LyingInstallation installation({device});
    HostOptions options = installation.options();
    options.allowed = AllowedMedia::Web();
    const Status status = ActBesideNeighbour(options, kLimit, [&](Host& host) {
      if (device.starts_with("audio")) {
        const auto audio = host.OpenAudio(
            installation.media(), {.device = device, .stream_index = 0});
        return audio ? Status() : audio.error();
      }
      const auto video = host.OpenVideo(installation.media(),
                                        {.device = device, .stream_index = 0});
      return video ? Status() : video.error();
    });
    EXPECT_EQ(status.code(), *says == 0 ? Code::kOk : Code::kBackendMisbehaved)
        << lie << ": " << status;
    EXPECT_NE(status.message().find(says), std::string::npos)
        << lie << ": " << status;
  }
}

// The zygote clones a worker for a session and says that it could not.
TEST_F(LiarsTest, AProcessThatNobodyNamedIsEnded) {
  const LyingInstallation installation({"clone_unnamed"});
  (void)ActBesideNeighbour(installation.options(), kLimit, [&](Host& host) {
    const Status loaded = host.Prewarm("clone_unnamed");
    EXPECT_TRUE(loaded.ok()) << loaded;
    const auto backends = host.Backends();
    EXPECT_TRUE(backends) << backends.error();
    if (!backends) return backends.error();
    pid_t reaper = 0;
    for (const BackendInfo& backend : backends->backends) {
      if (backend.name == "clone_unnamed") reaper = backend.reaper_pid;
    }
    EXPECT_NE(reaper, 0);
    const auto opened =
        host.OpenVideo(installation.media(), {.device = "clone_unnamed"});
    EXPECT_FALSE(opened);
    std::vector<ProcessWatch> processes;
    for (const pid_t pid : DescendantsOf(reaper)) processes.emplace_back(pid);
    EXPECT_TRUE(AwaitEndOfAll(processes, kLimit).empty());
    return Status();
  });
}

// The worker may or may not have started before the zygote repeats itself.
TEST_F(LiarsTest, AZygoteThatNamesAProcessTwiceIsDoneWith) {
  const LyingInstallation installation({"clone_twice"});
  (void)ActBesideNeighbour(installation.options(), kLimit, [&](Host& host) {
    const Status status =
        Perform(host, installation.media(), "clone_twice", Act::kDecode);
    EXPECT_TRUE(status.ok() || status.code() == Code::kBackendMisbehaved)
        << status;
    return status;
  });
}

TEST_F(LiarsTest, ALongNameOfACodecIsCutAndCleaned) {
  const LyingInstallation installation({"open_long_codec"});
  (void)ActBesideNeighbour(installation.options(), kLimit, [&](Host& host) {
    const auto video =
        host.OpenVideo(installation.media(), {.device = "open_long_codec"});
    EXPECT_TRUE(video) << video.error();
    if (video) {
      EXPECT_EQ(video->metadata().codec, std::string(64, '?'));
    }
    return Status();
  });
}

// The host gives up the scan while the honest worker still sends the rest of
// it.
TEST_F(LiarsTest, AStreamWithTooManyFramesToCountStillPlays) {
  const LyingInstallation installation({"scan_endless"});
  HostOptions options = installation.options();
  BoundIndex(options);
  (void)ActBesideNeighbour(options, kLimit, [&](Host& host) {
    auto video =
        host.OpenVideo(installation.media(), {.device = "scan_endless"});
    EXPECT_TRUE(video) << video.error();
    if (!video) return video.error();
    EXPECT_FALSE(video->FrameCount());
    const Status played = Decode(*video);
    EXPECT_TRUE(played.ok()) << played;
    return Status();
  });
}

TEST_F(LiarsTest, AWorkerThatIgnoresItsEndIsKilled) {
  const LyingInstallation installation({"frame_spins"});
  (void)ActBesideNeighbour(installation.options(), kLimit, [&](Host& host) {
    std::optional<ProcessWatch> worker;
    {
      auto video =
          host.OpenVideo(installation.media(), {.device = "frame_spins"});
      EXPECT_TRUE(video) << video.error();
      if (!video) return video.error();
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(video->Next());
      worker.emplace(video->worker_pid());
      EXPECT_TRUE(worker->valid());
    }
    const bool ended = worker->AwaitEnd();
    for (const TableRow row : {Escape(58), Fault(18)}) {
      ExpectOutcome(row, "ignores its end", "gone",
                    ended ? "gone" : "lives on");
    }
    return Status();
  });
}

TEST_F(LiarsTest, FramesFromBeforeALieOutliveEverything) {
  const LyingInstallation installation({"frame_slot_beyond"});
  std::vector<Frame> frames;
  {
    auto host = Host::Create(installation.options());
    ASSERT_TRUE(host) << host.error();
    auto video = (*host)->OpenVideo(installation.media(),
                                    {.device = "frame_slot_beyond"});
    ASSERT_TRUE(video) << video.error();
    auto frame = video->Next();
    for (; frame && *frame; frame = video->Next()) {
      frames.push_back(**std::move(frame));
    }
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().code(), Code::kBackendMisbehaved);
  }
  ASSERT_EQ(frames.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(frames[i].pts(), i);
    EXPECT_EQ(frames[i].row(0)[0], static_cast<std::byte>(i));
    EXPECT_EQ(frames[i].row(frames[i].height() - 1).back(),
              static_cast<std::byte>(i));
  }
}

class StormTest : public LiarsTest,
                  public ::testing::WithParamInterface<const char*> {};

// Starts another backend of the same bulkheadd during the storm.
TEST_P(StormTest, HoldsUpNoOtherBackend) {
  const std::string storm_name = GetParam();
  const LyingInstallation installation({storm_name, "honest"});
  HostOptions options = installation.options();
  // A storm ends at the deadline of its step, and may double it if it uses up
  // the processors.
  options.deadlines.worker_start = 2 * kShort;
  options.deadlines.open = kShort;
  options.deadlines.seek = kShort;
  options.deadlines.frame = kShort;
  (void)ActBesideNeighbour(options, 2 * kLimit, [&](Host& host) {
    // Without the storm, everything is there that a session needs.
    Status honest = Perform(host, installation.media(), "honest", Act::kDecode);
    HighWater application;
    HighWater bulkheadd;
    const auto look = [&](HighWater& ours, HighWater& theirs) {
      ours.Look(getpid());
      theirs.Look(host.supervisor_pid());
    };
    look(application, bulkheadd);
    HighWater most_application;
    HighWater most_bulkheadd;
    std::future<Status> storm = std::async(std::launch::async, [&] {
      return Perform(host, installation.media(), storm_name, Act::kDecode);
    });
    do {
      honest = Perform(host, installation.media(), "honest", Act::kDecode);
      look(most_application, most_bulkheadd);
    } while (honest.ok() &&
             storm.wait_for(milliseconds(0)) != std::future_status::ready);
    EXPECT_FALSE(storm.get().ok());
    const TableRow row = Fault(26);
    ExpectOutcome(row, storm_name + ", another session", Code::kOk, honest);
    ExpectAtMost(row, storm_name + ", descriptors of bulkheadd",
                 bulkheadd.descriptors + kMostDescriptors,
                 most_bulkheadd.descriptors, "descriptors");
    ExpectAtMost(row, storm_name + ", descriptors of the application",
                 application.descriptors + kMostDescriptors,
                 most_application.descriptors, "descriptors");
    // A sanitizer keeps what was freed.
    if (kHasSanitizer) return honest;
    ExpectAtMost(row, storm_name + ", memory of bulkheadd",
                 bulkheadd.resident_kib + kMostGrowthKib,
                 most_bulkheadd.resident_kib, "KiB");
    ExpectAtMost(row, storm_name + ", memory of the application",
                 application.resident_kib + kMostGrowthKib,
                 most_application.resident_kib, "KiB");
    return honest;
  });
}

INSTANTIATE_TEST_SUITE_P(Storm, StormTest,
                         ::testing::Values("ready_storm", "log_flood",
                                           "play_stale_storm", "unseen_storm",
                                           "frame_storm"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace bulkhead::tests
