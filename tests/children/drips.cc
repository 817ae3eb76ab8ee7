// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "ipc/index_entry.h"
#include "tests/children/deaths.h"
#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Frame = schema::PublishedFrame::Builder;
using Reply = schema::Reply::Builder;
using Samples = schema::PublishedSamples::Builder;
using Unseen = schema::UnseenFrame::Builder;

// Often enough to be within any deadline.
constexpr useconds_t kPause = 5'000;

template <typename Say>
[[noreturn]] void Drip(Say say) {
  for (;;) {
    ::usleep(kPause);
    say();
  }
}

void ReplyScanned(Session& session, uint64_t packets) {
  session.Reply(
      [&](Reply reply) { reply.initDescribed().setScanned(packets); });
}

void DripScanned(Session& session) {
  uint64_t packets = 0;
  Drip([&] { ReplyScanned(session, packets += schema::PACKETS_PER_REPORT); });
}

void DripIndex(Session& session) {
  Drip([&] {
    session.Reply([](Reply reply) {
      auto out = reply.initIndexChunk().initEntries(sizeof(ipc::IndexEntry));
      std::memset(out.begin(), 0, out.size());
    });
  });
}

void DripLost(Session& session) {
  Drip([&] {
    session.ReplyUnseen(
        [](Unseen frame) { frame.setFate(schema::UnseenFrame::Fate::LOST); });
  });
}

void DripDamaged(Session& session) {
  int64_t pts = 0;
  Drip([&] {
    session.Listen();
    session.Publish([&](Frame frame) {
      frame.setPts(pts++);
      frame.setDamaged(true);
    });
  });
}

// Keeps to the number of frames that each play of an approximate search asks
// for.
void DripUntimed(Session& session) {
  session.ReplyEntered(true);
  for (int window = 1;; window = std::min(2 * window, 64)) {
    const uint32_t epoch = session.epoch();
    for (int published = 0; published < window;) {
      ::usleep(kPause);
      session.Listen();
      published +=
          session.Publish([](Frame frame) { frame.setPts(ipc::kNoTimestamp); })
              ? 1
              : 0;
    }
    session.Reply([&](Reply reply) { reply.setPaused(epoch); });
    while (session.epoch() == epoch) session.Listen();
  }
}

void DripSkipping(Session& session) {
  int64_t reached = 0;
  Drip([&] { session.ReplySkipping(reached += kLyingRate); });
}

void DripSamples(Session& session) {
  int64_t next = session.position();
  Drip([&] {
    session.Listen();
    session.PublishSamples([&](Samples samples) {
      samples.setFirst(next++);
      samples.setCount(1);
    });
  });
}

// Brings one sample in each life.
void DripLives(Session& session) {
  const int64_t next = session.position();
  while (!session.PublishSamples([&](Samples samples) {
    samples.setFirst(next);
    samples.setCount(1);
  })) {
    session.Listen();
  }
  ::usleep(kPause);
  Segfault();
}

const std::map<std::string_view, LyingSession::Lie> kDrips = {
    {"drip_scanned", {Step::kDescribe, DripScanned}},
    {"drip_index", {Step::kScan, DripIndex}},
    {"drip_lost", {Step::kEntered, DripLost}},
    {"drip_damaged", {Step::kEntered, DripDamaged}},
    {"drip_untimed", {Step::kSeek, DripUntimed}},
    {"drip_skipping", {Step::kPlay, DripSkipping}},
    {"drip_samples", {Step::kPlay, DripSamples}},
    {"drip_lives", {Step::kPlay, DripLives}},

    // Reports that bring no progress, or less than an honest worker's.
    {"scanned_one", {Step::kDescribe, [](Session& s) { ReplyScanned(s, 1); }}},
    {"scanned_twice",
     {Step::kDescribe,
      [](Session& s) {
        ReplyScanned(s, schema::PACKETS_PER_REPORT);
        ReplyScanned(s, schema::PACKETS_PER_REPORT);
      }}},
    {"described_twice",
     {Step::kDescribe,
      [](Session& s) {
        for (int i = 0; i < 2; ++i) {
          s.Reply([](Reply reply) {
            auto container = reply.initDescribed().initContainer();
            container.setFormat("made-up");
            container.setStreamCount(1);
          });
        }
      }}},
    {"scanned_storm",
     {Step::kDescribe,
      [](Session& s) {
        for (uint64_t i = 1;; ++i) {
          ReplyScanned(s, i * schema::PACKETS_PER_REPORT);
        }
      }}},
};

}  // namespace

std::optional<LyingSession::Lie> FindDrip(std::string_view name) {
  const auto found = kDrips.find(name);
  if (found == kDrips.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
