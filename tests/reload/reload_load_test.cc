// SPDX-License-Identifier: Apache-2.0
//
// Reloads while sessions run. RELOADS in the environment sets the number of
// reloads by command. Prints the resources that bulkheadd holds in the first
// and in the last tenth of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/reload/reloading.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr int kReloadsByCommand = 50;
constexpr int kReloadsByFileChange = 20;
constexpr int kThreads = 3;
// What bulkheadd holds varies by so much with what the threads happen to do. A
// leak in every third reload adds as much in the short run.
constexpr int kDescriptorsOfLoad = 15;

struct Holding {
  int64_t descriptors = 0;
  int64_t resident_kib = 0;
};

Holding HoldingOf(int pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  Holding holding;
  holding.descriptors = std::distance(fs::directory_iterator(process + "/fd"),
                                      fs::directory_iterator());
  std::ifstream status(process + "/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") status >> holding.resident_kib;
  }
  return holding;
}

// Returns the maximum of each resource.
Holding MostOf(std::vector<Holding>::const_iterator begin,
               std::vector<Holding>::const_iterator end) {
  Holding most;
  for (; begin != end; ++begin) {
    most.descriptors = std::max(most.descriptors, begin->descriptors);
    most.resident_kib = std::max(most.resident_kib, begin->resident_kib);
  }
  return most;
}

TEST_F(Reloading, ByCommandUnderLoadFailsNoSessionAndLeavesNothing) {
  const char* wanted = ::getenv("RELOADS");
  const int reloads = wanted ? std::stoi(wanted) : kReloadsByCommand;
  std::vector<Holding> holdings;
  Load load(*host_, clip_, expected_, kThreads);
  for (int i = 0; i < reloads; ++i) {
    const int zygote = Info().zygote_pid;
    const Status status = host_->Reload("chaos");
    ASSERT_TRUE(status.ok()) << "reload " << i << ": " << status;
    ASSERT_NE(Info().zygote_pid, zygote);
    holdings.push_back(HoldingOf(host_->supervisor_pid()));
  }
  EXPECT_THAT(load.Failures(), IsEmpty());
  EXPECT_GT(load.clips(), 0);
  const auto tenth = std::max(reloads / 10, 1);
  const Holding first = MostOf(holdings.begin(), holdings.begin() + tenth);
  const Holding last = MostOf(holdings.end() - tenth, holdings.end());
  std::cout << reloads << " reloads, " << load.clips()
            << " clips decoded; bulkheadd in the first " << tenth << ": "
            << first.descriptors << " descriptors, " << first.resident_kib
            << " KiB; in the last: " << last.descriptors << " descriptors, "
            << last.resident_kib << " KiB\n";
  const std::string what = std::to_string(reloads) + " upgrades";
  ExpectAtMost(Fault(50), what + ", failed sessions", 0,
               static_cast<int64_t>(load.Failures().size()), "sessions");
  ExpectAtMost(Fault(50), what + ", descriptors",
               first.descriptors + kDescriptorsOfLoad, last.descriptors,
               "descriptors");
  ExpectAtMost(Fault(50), what + ", memory", first.resident_kib + 8 * 1024,
               last.resident_kib, "KiB");
  // The old zygotes end with their last sessions.
  Await([&] { return Draining() == 0; });
}

TEST_F(Reloading, ByFileChangeUnderLoadFailsNoSession) {
  Load load(*host_, clip_, expected_, kThreads);
  for (int i = 0; i < kReloadsByFileChange; ++i) {
    const int zygote = Info().zygote_pid;
    ReplaceObject();
    AwaitOtherZygote(zygote);
  }
  EXPECT_THAT(load.Failures(), IsEmpty());
  EXPECT_GT(load.clips(), 0);
}

}  // namespace
}  // namespace bulkhead::tests
