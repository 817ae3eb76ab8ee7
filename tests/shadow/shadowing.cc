// SPDX-License-Identifier: Apache-2.0
#include "tests/shadow/shadowing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "tests/support/await.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {

std::vector<Event> Events::Await(Event::Kind kind, size_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (;;) {
    std::vector<Event> found;
    std::copy_if(seen_.begin(), seen_.end(), std::back_inserter(found),
                 [kind](const Event& event) { return event.kind == kind; });
    if (found.size() >= count) return found;
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << found.size() << " of " << count << " events "
                    << EventKindName(kind) << " have come";
      return found;
    }
    // bound: the pause between two looks at the clock.
    auto next = follower_.Next(std::chrono::seconds(1));
    if (!next) {
      ADD_FAILURE() << next.error();
      return found;
    }
    std::move(next->begin(), next->end(), std::back_inserter(seen_));
  }
}

std::vector<std::string> DecodeAll(Host& host, const std::string& clip,
                                   VideoOptions options) {
  auto video = host.OpenVideo(clip, std::move(options));
  if (!video) {
    ADD_FAILURE() << video.error();
    return {};
  }
  return HashesOfRest(*video);
}

std::vector<std::string> DecodeInStep(Host& host, const std::string& backend,
                                      const std::string& clip,
                                      VideoOptions options) {
  constexpr size_t kMostAhead = 64;
  const auto compared = [&] {
    const ShadowReport report = InfoOf(host, backend).shadow;
    return report.compared + report.not_compared;
  };
  const uint64_t before = compared();
  auto video = host.OpenVideo(clip, std::move(options));
  if (!video) {
    ADD_FAILURE() << video.error();
    return {};
  }
  std::vector<std::string> hashes;
  for (;;) {
    auto frame = video->Next();
    if (!frame) ADD_FAILURE() << frame.error();
    const bool ended = !frame || !*frame;
    if (!ended) hashes.push_back(HashOf(**frame));
    if (ended || hashes.size() % kMostAhead == 0) {
      EXPECT_TRUE(Await([&] { return compared() >= before + hashes.size(); },
                        std::chrono::minutes(1)))
          << compared() - before << " of " << hashes.size() << " compared";
    }
    if (ended) return hashes;
  }
}

BackendInfo InfoOf(Host& host, const std::string& backend) {
  const BackendReport report = host.Backends().value();
  for (const BackendInfo& info : report.backends) {
    if (info.name == backend) return info;
  }
  ADD_FAILURE() << "there is no backend " << backend;
  return {};
}

}  // namespace bulkhead::tests
