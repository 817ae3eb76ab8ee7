// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::sandbox {

// What one backend may see and use, as data. Everything that is not in a
// Policy does not exist for the backend; nothing here is asked of the backend
// itself. bulkheadd makes a Policy from an installed distribution, compiles it
// (lockdown.h) and starts the backend under it (launcher.h).
//
//   Plugin plugin{.object_path = "/opt/acme/libacme.so",
//                 .entry_symbol = "acme_backend",
//                 .files = {"/opt/acme/libacme.so"}};
//   ASSIGN_OR_RETURN(Policy policy, MakePolicy(plugin, {}));
//
// Values without threads or owners of their own. Trusted: the paths come from
// installed metadata that discovery has validated.

// How much isolation is in force; the order and values of schema::Tier.
enum class Tier : uint16_t {
  kNone = 0,     // anything less than kReduced: no backend runs
  kReduced = 1,  // Landlock and both seccomp stages, no namespaces
  kFull = 2,     // six namespaces and both seccomp stages, Landlock if any
};

// "none", "reduced" or "full".
const char* TierName(Tier tier);

// One name in the backend's root, at the same absolute path as outside. Nothing
// can be changed through it; what a device does with what is written to it is
// the device's affair.
struct VisiblePath {
  enum class Kind {
    kFile,     // that file alone
    kTree,     // a directory and all below it
    kSymlink,  // a link with this target, which is visible only if named too
    kDevice,   // the node of a character device, which works
  };

  std::string path;
  Kind kind;
  std::string target;
  // Of what was granted: shown only if it is still this, and no part of the
  // path is a link. Without it links in the directories above are followed,
  // which are the system's own or the plugin's.
  std::optional<ObjectIdentity> granted;

  bool operator==(const VisiblePath&) const = default;
};

// Half of what this machine has.
uint64_t HalfOfMemory();

// Resource limits of each process of the backend, if not said otherwise. 0
// forbids the resource.
struct Limits {
  // Bounds a leak; decoders reserve far more than they touch.
  uint64_t address_space_bytes = uint64_t{16} << 30;
  uint64_t stack_bytes = uint64_t{8} << 20;
  // Also bounds how many descriptors it can have in flight in its sockets.
  uint64_t open_files = 256;
  // Processes and threads of the backend together. A session worker starts none
  // beyond three quarters of it, so that others can still be cloned. Not
  // enforced where the backend has no user namespace, no uid of its own and no
  // cgroup: it would count what else the user runs.
  uint64_t tasks = 4096;
  // Of any file or memfd that it writes; mapped memory is not affected.
  uint64_t file_bytes = 0;
  // That the backend's processes use together, without swap; frames, which are
  // the application's memory, do not count. Enforced where there is a cgroup
  // for it (cgroup.h).
  uint64_t memory_bytes = HalfOfMemory();
};

// What of a distribution the sandbox needs to know.
struct Plugin {
  std::string object_path;         // absolute, one of `files`
  std::string entry_symbol;        // the attr of the entry point
  std::vector<std::string> files;  // absolute; a directory is all below it
};

// What the operator granted this backend and is there; see core/grants.
struct Grants {
  std::vector<GrantedPath> paths;
  // The type bytes of the ioctls it may make on whatever descriptor it has, in
  // both stages.
  std::vector<uint8_t> ioctl_types;
  // Raise the limits of that name, if they are higher; 0: they do not. The
  // first raises memory_bytes too.
  uint64_t address_space_bytes = 0;
  uint64_t tasks = 0;
};

struct Policy {
  // Trees first; no path lies below one of the trees.
  std::vector<VisiblePath> visible;
  std::vector<uint8_t> ioctl_types;
  Limits limits;
  // Turn off speculative store bypass and indirect branch speculation for
  // good, where the machine lets a process do so (README.md).
  bool disable_speculation = true;
};

// The loader's libraries, the plugin's files and what is granted, but for the
// limits: those are raised last, by RaiseLimits. A path of `plugin` that is
// missing or is neither file, directory nor link is kBackendUnavailable and
// named.
Result<Policy> MakePolicy(const Plugin& plugin, const Grants& grants);
void RaiseLimits(const Grants& grants, Limits& limits);

}  // namespace bulkhead::sandbox
