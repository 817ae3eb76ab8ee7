// SPDX-License-Identifier: Apache-2.0
//
// Tests that every call ends although the worker reports the least progress
// again and again, each time within the deadline.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "bulkhead/host.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/act_on_host.h"
#include "tests/support/neighbour.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// bound: a drip lasts for a hundred of these, and comes every 5 ms.
constexpr milliseconds kScanDeadline{200};
constexpr milliseconds kFrameDeadline{500};
constexpr milliseconds kLimit{120'000};

constexpr Code kLate = Code::kDeadlineExceeded;
constexpr char kScan[] = "100 times the 200 ms of the deadline scan";
constexpr char kFrame[] = "100 times the 500 ms of the deadline frame";
constexpr char kSeek[] = "100 times the 500 ms of the deadline seek";

enum class Act {
  kProbe,
  kCount,
  kSkipDamage,
  kFindNearby,
  kListen,
  kListenLate
};

struct Row {
  const char* lie;
  Act act;
  Code code;
  const char* says;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.lie; }

template <typename T>
Status StatusOf(const Result<T>& result) {
  return result ? Status() : result.error();
}

Status Perform(Host& host, const std::string& media, const Row& row) {
  const std::string device = row.lie;
  switch (row.act) {
    case Act::kProbe:
      return StatusOf(host.Probe(media, {.device = device, .scan = true}));
    case Act::kListen:
    case Act::kListenLate: {
      auto audio = host.OpenAudio(media, {.device = device});
      if (!audio) return audio.error();
      return StatusOf(row.act == Act::kListen
                          ? audio->AllSamples()
                          : audio->SamplesPlayedInRange(1e6, std::nullopt));
    }
    case Act::kCount:
    case Act::kSkipDamage:
    case Act::kFindNearby:
      break;
  }
  VideoOptions options{.device = device};
  if (row.act == Act::kSkipDamage) options.on_corrupt = OnCorrupt::kSkip;
  if (row.act == Act::kFindNearby) options.seek_mode = SeekMode::kApproximate;
  auto video = host.OpenVideo(media, options);
  if (!video) return video.error();
  if (row.act == Act::kCount) return StatusOf(video->FrameCount());
  if (row.act == Act::kFindNearby) return StatusOf(video->FrameAt(20));
  return StatusOf(video->Next());
}

class DripTest : public ::testing::TestWithParam<Row> {};

TEST_P(DripTest, EndsTheCallOfItsVictim) {
  const Row& row = GetParam();
  const LyingInstallation installation({row.lie});
  HostOptions options = installation.options();
  // The sample that a worker brings before it dies forgives its death.
  options.limits.attempts_per_position =
      row.lie == std::string("drip_lives") ? 2 : 1;
  const auto perform = [&](Host& host) {
    return Perform(host, installation.media(), row);
  };
  const bool late = row.code == kLate;
  if (late) options.deadlines.scan = kScanDeadline;
  const bool plays = late && std::string(row.says) != kScan;
  if (plays) {
    options.deadlines.seek = kFrameDeadline;
    options.deadlines.frame = kFrameDeadline;
  }
  // A neighbour plays too, and would have the same deadlines for its frames.
  const Status status = plays ? ActOnHost(options, kLimit, perform)
                              : ActBesideNeighbour(options, kLimit, perform);
  EXPECT_EQ(status.code(), row.code) << status;
  EXPECT_NE(status.message().find(row.says), std::string::npos) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Drips, DripTest,
    ::testing::Values(
        Row{"drip_scanned", Act::kProbe, kLate, kScan},
        Row{"drip_index", Act::kCount, kLate, kScan},
        Row{"drip_lost", Act::kSkipDamage, kLate, kSeek},
        Row{"drip_damaged", Act::kSkipDamage, kLate, kFrame},
        Row{"drip_untimed", Act::kFindNearby, kLate, kFrame},
        Row{"drip_skipping", Act::kListenLate, kLate, kFrame},
        Row{"drip_samples", Act::kListen, kLate, kFrame},
        Row{"drip_lives", Act::kListen, kLate, "100 times the deadline frame"},
        Row{"honest", Act::kProbe, Code::kOk, ""},
        Row{"honest_nearby", Act::kFindNearby, Code::kOk, ""},
        Row{"scanned_one", Act::kProbe, Code::kBackendMisbehaved,
            "read further"},
        Row{"scanned_twice", Act::kProbe, Code::kBackendMisbehaved,
            "read further"},
        Row{"described_twice", Act::kProbe, Code::kBackendMisbehaved,
            "it described the container twice"},
        Row{"scanned_storm", Act::kProbe, Code::kResourceExhausted,
            "index_frames"}),
    [](const ::testing::TestParamInfo<Row>& row) { return row.param.lie; });

}  // namespace
}  // namespace bulkhead::tests
