// SPDX-License-Identifier: Apache-2.0
//
// container_seccomp.json decides on every system call that the kernel headers
// know. Whether Bulkhead works under it is tested in tests/container.

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace bulkhead::sandbox {
namespace {

constexpr struct {
  int number;
  const char* name;
} kCalls[] = {
#include "core/supervisor/sandbox/system_calls_x86_64.inc"
};

TEST(ContainerSeccompTest, EveryCallIsDecidedOnOnceOrByItsArguments) {
  const auto profile = nlohmann::json::parse(
      std::ifstream("core/supervisor/sandbox/container_seccomp.json"));
  EXPECT_EQ(profile["defaultAction"], "SCMP_ACT_ERRNO");
  EXPECT_EQ(profile["defaultErrnoRet"], ENOSYS);
  struct Decisions {
    int absolute = 0;
    int by_arguments = 0;
  };
  std::map<std::string, Decisions> decided;
  for (const auto& group : profile["syscalls"]) {
    EXPECT_NE(group["comment"], "");
    for (const std::string name : group["names"]) {
      ++(group.contains("args") ? decided[name].by_arguments
                                : decided[name].absolute);
    }
  }
  for (const auto& call : kCalls) {
    const Decisions decisions = decided[call.name];
    decided.erase(call.name);
    EXPECT_EQ(decisions.absolute, decisions.by_arguments > 0 ? 0 : 1)
        << call.name << ": a group of container_seccomp.json has to allow or "
        << "refuse it, and only one";
  }
  for (const auto& [name, decisions] : decided) {
    ADD_FAILURE() << name << " is no system call of x86-64";
  }
}

}  // namespace
}  // namespace bulkhead::sandbox
