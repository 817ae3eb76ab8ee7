// SPDX-License-Identifier: Apache-2.0
//
// Compares the tables of core/supervisor/sandbox/README.md with the behaviour.
// Each row has a check here, and each check has a row there.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/escape/table/attempt.h"
#include "tests/escape/table/installation.h"
#include "tests/escape/table/outcome.h"
#include "tests/escape/tiers/outside.h"
#include "tests/escape/tiers/promises.h"
#include "tests/escape/tiers/readme.h"
#include "tests/support/process_watch.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kInForce[] = "In force";
constexpr char kAttempts[] = "A backend may try";
constexpr char kDiffers[] = "Without Landlock, in full";
constexpr char kAtAnEnd[] = "What ends";
constexpr char kStarts[] = "Floor";
constexpr char kUntried[] = "Not tried";

// Resolves a cell with two texts: the first applies where Bulkhead runs as
// root.
std::string Here(const std::string& cell, const char* as_root,
                 const char* otherwise) {
  if (cell != std::string(as_root) + " as root") return cell;
  return geteuid() == 0 ? as_root : otherwise;
}

class TiersTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* tier = std::getenv("BULKHEAD_TEST_TIER");
    tier_ = tier == nullptr ? "full" : tier;
    if (tier_ == "reduced" || tier_ == "none") {
      ASSERT_TRUE(RefuseNamespaces());
    }
    if (tier_ == "full_without_landlock" || tier_ == "none") {
      ASSERT_TRUE(RefuseLandlock());
    }
    std::printf("tier %s, uid %d\n", tier_.c_str(),
                static_cast<int>(geteuid()));
    if (tier_ == "none") return;
    installation_ = Installation::Make(IsReduced()).release();
  }
  static void TearDownTestSuite() {
    delete std::exchange(installation_, nullptr);
  }

  void SetUp() override {
    if (tier_ == "none") return;
    if (installation_ == nullptr) GTEST_SKIP() << "there is no clip to decode";
    const auto sandbox = installation_->StartHost("none")->Sandbox();
    ASSERT_TRUE(sandbox) << sandbox.error();
    std::string reasons;
    for (const auto& reason : sandbox->reasons) reasons += reason + "; ";
    if (sandbox->tier !=
        (IsReduced() ? SandboxTier::kReduced : SandboxTier::kFull)) {
      GTEST_SKIP() << "this machine has no tier " << tier_ << ": " << reasons;
    }
    if (sandbox->landlock_abi < 6 && !IsWithoutLandlock()) {
      GTEST_SKIP() << "the table is written for Landlock ABI 6: " << reasons;
    }
  }

  static bool IsReduced() { return tier_ == "reduced"; }
  static bool IsWithoutLandlock() { return tier_ == "full_without_landlock"; }
  // Returns the rows of the table. Without Landlock, only the rows differ from
  // full that the README names.
  static std::vector<ReadmeRow> RowsOfAttempts() {
    auto rows = ReadReadmeTable(kAttempts);
    if (!IsWithoutLandlock()) return rows;
    for (const ReadmeRow& differs : ReadReadmeTable(kDiffers)) {
      const auto row = std::find_if(
          rows.begin(), rows.end(),
          [&](const ReadmeRow& each) { return each.text == differs.text; });
      if (row == rows.end()) {
        ADD_FAILURE() << "no such row: " << differs.text;
        continue;
      }
      EXPECT_EQ(differs.cells.size(), 2u) << differs.text;
      row->cells.at(0) = differs.cells.at(0);
      row->cells.at(2) = differs.cells.at(1);
    }
    return rows;
  }
  // Returns whether the outcome is one that the escape table expects. That
  // table is written for a machine with Landlock.
  static bool IsAsExpected(std::string_view expected, const std::string& got) {
    return IsWithoutLandlock() || expected.starts_with("n/a") ||
           Matches(expected, got);
  }
  // The column of this tier: "full" or "reduced".
  static size_t Column() { return IsReduced() ? 1 : 0; }

  static BackendInfo Backend(Host& host) {
    const auto report = host.Backends();
    EXPECT_TRUE(report) << report.error();
    if (!report) return {};
    for (const BackendInfo& backend : report->backends) {
      if (backend.name == "escape") return backend;
    }
    ADD_FAILURE() << "there is no backend";
    return {};
  }

  // Returns an empty Observed after adding a failure.
  static Observed Observe(Host& host, VideoDecoder& video) {
    Observed observed;
    const auto attempts = AllAttempts();
    const auto outcomes = ZygoteOutcomes(*installation_, host);
    if (outcomes.size() != attempts.size()) return observed;
    Targets targets = installation_->targets();
    std::set<std::string> wanted = {"environment", "descriptors"};
    for (const Reach& reach : Reaches()) {
      wanted.insert(reach.attempts.begin(), reach.attempts.end());
    }
    for (size_t i = 0; i < attempts.size(); ++i) {
      const Attempt& attempt = attempts[i];
      observed.while_loading[attempt.name] = outcomes[i];
      if (!wanted.contains(attempt.name)) continue;
      targets.in_zygote = true;
      EXPECT_TRUE(IsAsExpected(attempt.expected.For(targets), outcomes[i]))
          << attempt.name << " while loading: " << outcomes[i];
      targets.in_zygote = false;
      const auto opened = installation_->Open(host, "attempt", attempt.name);
      const std::string got = opened ? "opened" : OutcomeOf(opened.error());
      EXPECT_TRUE(IsAsExpected(attempt.expected.For(targets), got))
          << attempt.name << " with media: " << got;
      observed.with_media[attempt.name] = got;
    }
    observed.zygote = Backend(host).zygote_pid;
    observed.session = video.worker_pid();
    return observed;
  }

  static void Compare(const ReadmeRow& row, const char* column,
                      const std::string& promised, const std::string& found) {
    const bool holds = promised == found;
    std::printf("%-66s %-14s %-8s %s%s\n", row.text.c_str(), column,
                promised.c_str(), found.c_str(),
                holds ? "" : "   <-- NOT AS THE README SAYS");
    EXPECT_TRUE(holds) << row.text << ", " << column << ": the README says "
                       << promised << ", found " << found;
  }

  static std::string tier_;
  static Installation* installation_;
};
std::string TiersTest::tier_;
Installation* TiersTest::installation_ = nullptr;

// Expects that both lists contain the same texts, each once.
template <typename Checks>
void ExpectSameRows(const std::vector<ReadmeRow>& rows, const Checks& checks,
                    size_t cells) {
  std::set<std::string> left;
  for (const auto& check : checks) {
    EXPECT_TRUE(left.insert(check.text).second) << check.text << " twice";
  }
  for (const ReadmeRow& row : rows) {
    EXPECT_EQ(left.erase(row.text), 1u)
        << "a row of the README without a check: " << row.text;
    EXPECT_EQ(row.cells.size(), cells) << row.text;
  }
  for (const std::string& text : left) {
    ADD_FAILURE() << "a check without a row in the README: " << text;
  }
}

struct Text {
  const char* text;
};
constexpr Text kEnds[] = {
    {"bulkheadd, by SIGKILL"},
    {"the reaper, by SIGKILL"},
};
constexpr Text kFloors[] = {{"full (the default)"}, {"reduced"}};

TEST_F(TiersTest, EachRowOfTheReadmeHasACheckAndEachCheckARow) {
  ExpectSameRows(ReadReadmeTable(kInForce), Promises(), 2);
  ExpectSameRows(ReadReadmeTable(kAttempts), Reaches(), 4);
  ExpectSameRows(ReadReadmeTable(kAtAnEnd), kEnds, 2);
  ExpectSameRows(ReadReadmeTable(kStarts), kFloors, 3);
}

// The README names everything that the escape table allows.
TEST_F(TiersTest, WhateverIsAllowedIsInTheReadme) {
  std::set<std::string> told;
  for (const Reach& reach : Reaches()) {
    told.insert(reach.attempts.begin(), reach.attempts.end());
  }
  for (const Attempt& attempt : AllAttempts()) {
    for (const char* expected :
         {attempt.expected.zygote, attempt.expected.session,
          attempt.expected.zygote_reduced, attempt.expected.session_reduced}) {
      if (expected == nullptr ||
          !std::string_view(expected).starts_with("allowed")) {
        continue;
      }
      EXPECT_TRUE(told.contains(attempt.name)) << attempt.name;
    }
  }
}

TEST_F(TiersTest, WhatIsInForceIsWhatTheReadmeSays) {
  if (tier_ == "none") GTEST_SKIP() << "nothing is started";
  const auto host = installation_->StartHost("all");
  auto video = installation_->Open(*host, "", "", 4);
  ASSERT_TRUE(video) << video.error();
  const Observed observed = Observe(*host, *video);
  ASSERT_NE(observed.zygote, 0);

  for (const ReadmeRow& row : ReadReadmeTable(kInForce)) {
    for (const Promise& promise : Promises()) {
      if (row.text != promise.text) continue;
      if (IsWithoutLandlock() && row.text.starts_with("Landlock")) {
        Compare(row, tier_.c_str(), "no", promise.found(observed));
        continue;
      }
      Compare(row, tier_.c_str(), Here(row.cells.at(Column()), "yes", "no"),
              promise.found(observed));
    }
  }
  for (const ReadmeRow& row : RowsOfAttempts()) {
    for (const Reach& reach : Reaches()) {
      if (row.text != reach.text) continue;
      const auto found = [&](const auto& outcomes) -> std::string {
        size_t made = 0;
        size_t succeeded = 0;
        for (const std::string& attempt : reach.attempts) {
          const auto outcome = outcomes.find(attempt);
          if (outcome == outcomes.end() || outcome->second == "n/a") continue;
          ++made;
          if (outcome->second == reach.success) ++succeeded;
        }
        if (made == 0) return "-";
        return succeeded == 0      ? "stopped"
               : succeeded == made ? "allowed"
                                   : "some of it allowed";
      };
      Compare(row, "while loading", row.cells.at(Column()),
              found(observed.while_loading));
      Compare(row, "with media", row.cells.at(2 + Column()),
              found(observed.with_media));
    }
  }
}

// All processes of a backend.
class Household {
 public:
  explicit Household(const BackendInfo& backend) {
    for (const int pid : ChildrenOf(backend.reaper_pid)) Add(pid);
    Add(backend.reaper_pid);
  }
  ~Household() {
    for (const ProcessWatch& member : members_) member.Signal(SIGKILL);
  }
  size_t size() const { return members_.size(); }

  // Waits for the end of all processes except the reaper and returns those that
  // are left.
  std::string AllEnd() const {
    const auto left = AwaitEndOfAll(members_);
    return left.empty() ? "all" : "not all";
  }

 private:
  void Add(int pid) { members_.emplace_back(pid); }
  std::vector<ProcessWatch> members_;
};

TEST_F(TiersTest, WhoEndsWithWhomIsWhatTheReadmeSays) {
  if (tier_ == "none") GTEST_SKIP() << "nothing is started";
  for (const ReadmeRow& row : ReadReadmeTable(kAtAnEnd)) {
    const auto host = installation_->StartHost("none");
    const auto video = installation_->Open(*host);
    ASSERT_TRUE(video) << video.error();
    const BackendInfo backend = Backend(*host);
    const Household household(backend);
    // The zygote, the session worker and the reaper.
    ASSERT_GE(household.size(), 3u);
    const bool is_reaper = row.text == kEnds[1].text;
    ASSERT_EQ(
        kill(is_reaper ? backend.reaper_pid : host->supervisor_pid(), SIGKILL),
        0);
    Compare(row, tier_.c_str(), row.cells.at(Column()), household.AllEnd());
  }
}

TEST_F(TiersTest, WhatIsStartedIsWhatTheReadmeSays) {
  const auto rows = ReadReadmeTable(kStarts);
  ASSERT_EQ(rows.size(), 2u);
  char directory[] = "/tmp/tiers-XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  fs::permissions(directory, fs::perms(0755));
  const std::string libexec = std::string(directory) + "/libexec";
  CopyForAll(LibexecDirectory(), libexec);
  for (const ReadmeRow& row : rows) {
    HostOptions options;
    options.plugin_path = std::vector<std::string>();
    options.libexec_dir = libexec;
    if (row.text == kFloors[1].text) {
      options.sandbox_floor = SandboxTier::kReduced;
    }
    const auto host = Host::Create(options);
    const Status status = host ? (*host)->Prewarm("cpu") : host.error();
    if (!status.ok()) {
      EXPECT_EQ(status.code(), Code::kSandboxUnavailable) << status;
    }
    const std::string& promised = row.cells.at(tier_ == "none" ? 2 : Column());
    Compare(row, tier_.c_str(), promised, status.ok() ? "yes" : "no");
    ExpectOutcome(Fault(40), tier_ + ": " + row.text,
                  promised == "yes" ? "kOk" : "kSandboxUnavailable",
                  CodeName(status.code()));
  }
  fs::remove_all(directory);
}

TEST_F(TiersTest, WhatWasNotTriedIsPrintedWithTheReason) {
  for (const ReadmeRow& row : ReadReadmeTable(kUntried)) {
    ASSERT_EQ(row.cells.size(), 1u) << row.text;
    EXPECT_FALSE(row.cells[0].empty()) << row.text;
    std::printf("not tried: %s: %s\n", row.text.c_str(), row.cells[0].c_str());
  }
}

}  // namespace
}  // namespace bulkhead::tests
