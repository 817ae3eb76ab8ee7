// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"

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

// One name in the backend's root, at the same absolute path as outside, always
// read-only.
struct VisiblePath {
  enum class Kind {
    kFile,     // that file alone
    kTree,     // a directory and all below it
    kSymlink,  // a link with this target, which is visible only if named too
  };

  std::string path;
  Kind kind;
  std::string target;

  bool operator==(const VisiblePath&) const = default;
};

// Resource limits of each process of the backend. 0 forbids the resource.
struct Limits {
  // Bounds a leak; decoders reserve far more than they touch.
  uint64_t address_space_bytes = uint64_t{16} << 30;
  uint64_t stack_bytes = uint64_t{8} << 20;
  // Also bounds how many descriptors it can have in flight in its sockets.
  uint64_t open_files = 256;
  // Processes and threads of the backend together. Not enforced where the
  // backend has neither a user namespace nor a uid of its own: it would count
  // what else the user runs.
  uint64_t tasks = 4096;
  // Of any file or memfd that it writes; mapped memory is not affected.
  uint64_t file_bytes = 0;
};

// What of a distribution the sandbox needs to know.
struct Plugin {
  std::string object_path;         // absolute, one of `files`
  std::string entry_symbol;        // the attr of the entry point
  std::vector<std::string> files;  // absolute; a directory is all below it
};

struct Policy {
  // Trees first; no path lies below one of the trees.
  std::vector<VisiblePath> visible;
  Limits limits;
  // Turn off speculative store bypass and indirect branch speculation for
  // good, where the machine lets a process do so (README.md).
  bool disable_speculation = true;
};

// The loader's libraries, the plugin's files and the granted paths. A path of
// `plugin` that is missing or is neither file, directory nor link is
// kBackendUnavailable and named; one of `granted` is kInvalidArgument.
Result<Policy> MakePolicy(const Plugin& plugin,
                          std::span<const std::string> granted);

}  // namespace bulkhead::sandbox
