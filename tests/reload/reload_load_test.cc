// SPDX-License-Identifier: Apache-2.0
//
// Reloads while sessions run. RELOADS in the environment sets the number of
// reloads by command. Prints the resources that bulkheadd holds before and
// after them, when no session runs and every old zygote has ended.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

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
// What bulkheadd holds at rest differs by no more, for example by a spare
// worker that it has or has yet to clone. A leak in every tenth reload adds
// more.
constexpr int kDescriptorsAtRest = 2;
constexpr int64_t kKibibytesOfHeap = 8 * 1024;

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

class ReloadingUnderLoad : public Reloading {
 protected:
  // Returns what bulkheadd holds once every zygote but the newest, which has
  // no session, has ended with the sessions that it had.
  Holding HoldingAtRest() const {
    {
      VideoDecoder video = Open();
      const Status status = host_->Reload("chaos");
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_TRUE(video.Next());
    }
    Await([&] { return Draining() == 0; });
    return HoldingOf(host_->supervisor_pid());
  }
};

TEST_F(ReloadingUnderLoad, ByCommandFailsNoSessionAndLeavesNothing) {
  const char* wanted = ::getenv("RELOADS");
  const int reloads = wanted ? std::stoi(wanted) : kReloadsByCommand;
  const Holding before = HoldingAtRest();
  std::vector<std::string> failures;
  int clips = 0;
  {
    Load load(*host_, clip_, expected_, kThreads);
    for (int i = 0; i < reloads; ++i) {
      const int zygote = Info().zygote_pid;
      const Status status = host_->Reload("chaos");
      ASSERT_TRUE(status.ok()) << "reload " << i << ": " << status;
      ASSERT_NE(Info().zygote_pid, zygote);
    }
    failures = load.Failures();
    clips = load.clips();
  }
  EXPECT_THAT(failures, IsEmpty());
  EXPECT_GT(clips, 0);
  const Holding after = HoldingAtRest();
  std::cout << reloads << " reloads, " << clips
            << " clips decoded; bulkheadd before: " << before.descriptors
            << " descriptors, " << before.resident_kib
            << " KiB; after: " << after.descriptors << " descriptors, "
            << after.resident_kib << " KiB\n";
  const std::string what = std::to_string(reloads) + " upgrades";
  ExpectAtMost(Fault(50), what + ", failed sessions", 0,
               static_cast<int64_t>(failures.size()), "sessions");
  ExpectAtMost(Fault(50), what + ", descriptors",
               before.descriptors + kDescriptorsAtRest, after.descriptors,
               "descriptors");
  ExpectAtMost(Fault(50), what + ", memory",
               before.resident_kib + kKibibytesOfHeap, after.resident_kib,
               "KiB");
}

TEST_F(ReloadingUnderLoad, ByFileChangeFailsNoSession) {
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
