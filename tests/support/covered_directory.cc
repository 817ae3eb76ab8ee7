// SPDX-License-Identifier: Apache-2.0
#include "tests/support/covered_directory.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

namespace bulkhead::tests {

std::string CoverDirectory(const std::string& directory) {
  const auto failed = [](const char* call) {
    return std::string(call) + ": " + std::strerror(errno);
  };
  if (::unshare(CLONE_NEWNS) != 0) return failed("unshare");
  // Otherwise the machine's own namespace would get the mount too.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", directory.c_str(), "tmpfs", 0, "mode=0755") != 0) {
    return failed("mount");
  }
  return "";
}

}  // namespace bulkhead::tests
