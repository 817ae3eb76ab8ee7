// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/start_failures.h"

#include <gtest/gtest.h>

#include <string>

#include "core/supervisor/backend/testing/idle_start_context.h"
#include "core/supervisor/testing/test_loop.h"

namespace bulkhead::backend {
namespace {

// Explains starts that failed before a process was launched. What processes
// write is tested with real backends (tests/start, tests/supervision).
class StartFailuresTest : public testing::Test {
 protected:
  StartFailuresTest() { candidate_.entry_point.name = "acme"; }
  // kj's destructors may throw, and a test fixture's may not.
  ~StartFailuresTest() noexcept override {}

  BackendCause Cause(Code code) {
    const BackendStart start(candidate_, 1, start_.context());
    return StartFailures(candidate_, start_.context())
        .OfStart(start, Status(code, "it does not start"), nullptr);
  }

  supervisor::TestLoop loop_;
  IdleStartContext start_{loop_.port};
  discovery::BackendCandidate candidate_;
};

TEST_F(StartFailuresTest, CallersGetTheCodesThatTheyCanActOn) {
  for (const Code code : {Code::kSandboxUnavailable, Code::kResourceExhausted,
                          Code::kNotFound, Code::kBackendUnavailable}) {
    EXPECT_EQ(Cause(code).code, code);
  }
  EXPECT_EQ(Cause(Code::kInternal).code, Code::kBackendUnavailable);
  EXPECT_EQ(Cause(Code::kDeadlineExceeded).code, Code::kBackendUnavailable);
}

TEST_F(StartFailuresTest, NobodyIsToBlameForWhatWasNotLaunched) {
  EXPECT_FALSE(Cause(Code::kBackendUnavailable).culprit);
}

TEST_F(StartFailuresTest, ThePermissionsThatNobodyGrantedAreNamed) {
  EXPECT_EQ(Cause(Code::kNotFound).text.find("grant"), std::string::npos);
  candidate_.manifest.permissions = {.read = {"/a"}};
  EXPECT_NE(Cause(Code::kNotFound).text.find("bulkhead grant acme read=/a"),
            std::string::npos);
}

}  // namespace
}  // namespace bulkhead::backend
