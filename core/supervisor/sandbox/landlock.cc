// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/landlock.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bulkhead::sandbox {
namespace {

// The number of file system rights of each ABI. Written out, since the kernel
// headers may be older than the running kernel.
constexpr unsigned kFsRightsByAbi[] = {0, 13, 14, 15, 15, 16, 16, 16, 16, 17};
constexpr uint64_t kIoctlDevice = uint64_t{1} << 15;  // Since ABI 5.
constexpr uint64_t kNetRights = 0b11;  // Bind and connect TCP, since ABI 4.
constexpr uint64_t kScopes = 0b11;  // Abstract sockets, signals, since ABI 6.
constexpr uint32_t kNewestKnownAbi = 9;

}  // namespace

uint32_t LandlockAbi() {
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, 0,
                           LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<uint32_t>(abi);
}

LandlockPlan PlanLandlock(uint32_t abi, const Policy& policy) {
  LandlockPlan plan{.abi = abi};
  if (abi == 0) return plan;
  // Rights of an ABI newer than the table stay unrestricted. The kernel refuses
  // a ruleset with a right that it does not know.
  const uint32_t known = abi < kNewestKnownAbi ? abi : kNewestKnownAbi;
  plan.handled_fs = (uint64_t{1} << kFsRightsByAbi[known]) - 1;
  if (abi >= 4) plan.handled_net = kNetRights;
  if (abi >= 6) plan.scoped = kScopes;
  for (const VisiblePath& visible : policy.visible) {
    switch (visible.kind) {
      case VisiblePath::Kind::kFile:
        plan.rules.push_back(
            {visible.path, LANDLOCK_ACCESS_FS_READ_FILE, visible.identity});
        break;
      case VisiblePath::Kind::kTree:
        plan.rules.push_back(
            {visible.path,
             LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
             visible.identity});
        break;
      case VisiblePath::Kind::kDevice:
        // A rule must have no right that the ruleset does not handle, such as
        // kIoctlDevice on older kernels.
        plan.rules.push_back(
            {visible.path,
             plan.handled_fs & (LANDLOCK_ACCESS_FS_READ_FILE |
                                LANDLOCK_ACCESS_FS_WRITE_FILE | kIoctlDevice),
             visible.identity});
        break;
      case VisiblePath::Kind::kSymlink:
        // A rule for a link would allow its target, which may not be visible.
        break;
    }
  }
  return plan;
}

std::vector<std::string> MissingFrom(uint32_t abi) {
  std::vector<std::string> missing;
  const auto since = [&](uint32_t first, const char* what) {
    if (abi < first) {
      missing.push_back(std::string(what) + " (ABI " + std::to_string(first) +
                        ")");
    }
  };
  since(3, "truncation of files");
  since(4, "TCP");
  since(5, "ioctl on devices");
  since(6, "signals and abstract sockets");
  return missing;
}

}  // namespace bulkhead::sandbox
