// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/refuse_inside_backend.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "ipc/backend_environment.h"

namespace bulkhead {
namespace {

TEST(RefuseInsideBackend, LetsAnApplicationPassAndLeavesNoNote) {
  ::unsetenv(ipc::kInsideBackendVariable);
  EXPECT_TRUE(RefuseInsideBackend().ok());
  EXPECT_EQ(::getenv(ipc::kRefusedInsideVariable), nullptr);
}

TEST(RefuseInsideBackend, RefusesABackendAndLeavesANote) {
  ::setenv(ipc::kInsideBackendVariable, "1", 1);
  const Status status = RefuseInsideBackend();
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("inside one of its backends"),
            std::string::npos)
      << status;
  EXPECT_NE(::getenv(ipc::kRefusedInsideVariable), nullptr);
  ::unsetenv(ipc::kInsideBackendVariable);
  ::unsetenv(ipc::kRefusedInsideVariable);
}

}  // namespace
}  // namespace bulkhead
