// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/backend_roster.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "core/supervisor/backend/testing/idle_start_context.h"
#include "core/supervisor/testing/test_loop.h"

namespace bulkhead::catalog {
namespace {

class NoKeeper final : public backend::BackendKeeper {
 public:
  kj::Promise<Status> StartSuccessor(unsigned) override { return Status(); }
  kj::Promise<Status> NeedSuccessor(unsigned) override { return Status(); }
  void LookAgain() override {}
};

// Backends that are never started, so each is replaced when its files change.
// Those that run are tested with real backends (tests/reload).
class BackendRosterTest : public testing::Test,
                          private kj::TaskSet::ErrorHandler {
 protected:
  // kj's destructors may throw, and a test fixture's may not.
  ~BackendRosterTest() noexcept override {}

  static discovery::BackendCandidate Candidate(const std::string& name,
                                               const std::string& version) {
    discovery::BackendCandidate candidate;
    candidate.entry_point.name = name;
    candidate.entry_point.distribution = name;
    candidate.entry_point.version = version;
    candidate.directory = "/plugins";
    candidate.plugin_path = name + ".so";
    return candidate;
  }

  void Find(std::vector<discovery::BackendCandidate> backends,
            bool silent = false) {
    discovery::Discovery found;
    found.backends = std::move(backends);
    roster_.Update(std::move(found),
                   [silent](const std::string&) { return silent; });
  }

  supervisor::TestLoop loop_;
  backend::IdleStartContext start_{loop_.port};
  NoKeeper keeper_;

 private:
  void taskFailed(kj::Exception&& exception) override {
    ADD_FAILURE() << exception.getDescription().cStr();
  }

  kj::TaskSet tasks_{*this};

 protected:
  BackendRoster roster_{start_.context(), keeper_, tasks_};
};

TEST_F(BackendRosterTest, ABackendStaysWhileItsFilesAreTheSame) {
  Find({Candidate("acme", "1")});
  const BackendPointer acme = roster_.Usable().at(0);
  Find({Candidate("first", "1"), Candidate("acme", "1")});
  EXPECT_EQ(roster_.entries().at(1).backend, acme);
  EXPECT_EQ(roster_.Named("acme").value(), acme);
}

TEST_F(BackendRosterTest, ABackendThatDoesNotRunIsReplacedByItsNewFiles) {
  Find({Candidate("acme", "1")});
  const BackendPointer old = roster_.Usable().at(0);
  Find({Candidate("acme", "2")});
  ASSERT_EQ(roster_.All().size(), 1u);
  EXPECT_NE(roster_.All()[0], old);
  EXPECT_EQ(roster_.entries()[0].present->entry_point.version, "2");
}

TEST_F(BackendRosterTest, ANewVersionOfADisabledBackendIsDisabledToo) {
  Find({Candidate("acme", "1")});
  auto disabled = roster_.Usable().at(0)->external_events().Disable();
  Find({Candidate("acme", "2")});
  EXPECT_TRUE(roster_.Usable().at(0)->lifecycle().disabled());
}

TEST_F(BackendRosterTest, WhatIsGoneIsDroppedUnlessItsDirectoryIsSilent) {
  Find({Candidate("acme", "1")});
  Find({}, /*silent=*/true);
  ASSERT_EQ(roster_.All().size(), 1u);
  EXPECT_TRUE(roster_.entries()[0].present);
  Find({});
  EXPECT_TRUE(roster_.All().empty());
  EXPECT_TRUE(roster_.discovery().backends.empty());
}

// sandbox::OutsideId maps 32 numbers to different uids.
TEST_F(BackendRosterTest, NoBackendGetsTheUidOfOneThatLives) {
  for (int version = 0; version < 40; ++version) {
    Find({Candidate("acme", "1"), Candidate("other", std::to_string(version))});
    std::set<unsigned> uids;
    for (const BackendPointer& backend : roster_.All()) {
      uids.insert(backend->lifecycle().number() % 32);
    }
    EXPECT_EQ(uids.size(), 2u) << "version " << version;
  }
}

}  // namespace
}  // namespace bulkhead::catalog
