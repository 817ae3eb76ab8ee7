// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/application_limits.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::sandbox {

// The policy of one backend, as data: the files that the backend may see and
// the resources that it may use. What is not in a Policy does not exist for the
// backend; the backend itself is never asked. bulkheadd makes a Policy from an
// installed distribution, compiles it (lockdown.h) and starts the backend under
// it (launcher.h).
//
//   Plugin plugin{.object_path = "/opt/acme/libacme.so",
//                 .entry_symbol = "acme_backend",
//                 .files = {{"/opt/acme/libacme.so", IdentityOf(object)}}};
//   ASSIGN_OR_RETURN(Policy policy, MakePolicy(plugin, {}));
//
// Plain values. Trusted: the paths come from installed metadata that discovery
// has validated.

// The degree of isolation that is in force. Order and values as in
// schema::Tier.
enum class Tier : uint16_t {
  kNone = 0,     // Anything less than kReduced: no backend runs.
  kReduced = 1,  // Landlock and both seccomp stages, no namespaces.
  kFull = 2,     // Six namespaces, both seccomp stages, Landlock if any.
};

// Returns "none", "reduced" or "full". The string has static storage.
const char* TierName(Tier tier);

// One name in the backend's root, at the same absolute path as outside. The
// backend cannot change anything through it. A device still acts on what is
// written to it.
struct VisiblePath {
  enum class Kind {
    kFile,     // A single file.
    kTree,     // A directory and everything below it.
    kSymlink,  // A link. `target` must be named to be visible.
    kDevice,   // The node of a character device, usable.
  };

  std::string path;
  Kind kind;
  std::string target;
  // Set for the plugin's files and for granted paths: the path is shown only if
  // it still leads to this object. Not set for the system's libraries.
  std::optional<ObjectIdentity> identity;
  // A sealed descriptor, borrowed: with a root of its own (tier full) the
  // backend finds a private copy of these contents in place of the file. -1
  // for a file that is shown itself.
  int contents = -1;

  bool operator==(const VisiblePath&) const = default;
};

// Returns half of this machine's memory, in bytes.
uint64_t HalfOfMemory();

// The default resource limits of each process of a backend. 0 forbids the
// resource.
struct Limits {
  // Bounds a leak. The default is high, because decoders reserve far more
  // memory than they touch.
  uint64_t address_space_bytes = kBackendAddressSpaceBytes;
  // Bounds the part of the address space that is mapped when the backend is
  // loaded. Each session is a clone and has that part too (memory_limit.h).
  // Bulkhead's own backends have less than 200 MiB.
  uint64_t load_bytes = uint64_t{1} << 30;
  uint64_t stack_bytes = uint64_t{8} << 20;
  // Also bounds how many descriptors the process can have in flight in sockets.
  uint64_t open_files = kBackendOpenFiles;
  // Processes and threads of the backend together. A session worker starts no
  // task beyond three quarters of the limit, so that other workers can still be
  // cloned. Not enforced if the backend has no user namespace, no user id of
  // its own and no cgroup: the limit would then count the user's other
  // processes.
  uint64_t tasks = 4096;
  // The size of any file or memfd that is written; mapped memory is unaffected.
  uint64_t file_bytes = 0;
  // Memory that the processes of the backend use together, without swap. Frames
  // do not count, as they are the application's memory. Enforced if there is a
  // cgroup (cgroup.h).
  uint64_t memory_bytes = HalfOfMemory();
};

// The files of a distribution that the sandbox needs to know. The caller has
// checked that they are the distribution's own.
struct Plugin {
  struct File {
    std::string path;  // Absolute.
    ObjectIdentity identity;
    int contents = -1;  // As VisiblePath::contents.
  };

  std::string object_path;   // Absolute; one of `files`.
  std::string entry_symbol;  // The attr of the entry point.
  std::vector<File> files;   // Regular files.
};

// The grants of the operator to this backend, as far as the granted things
// exist (core/grants).
struct Grants {
  std::vector<GrantedPath> paths;
  // Type bytes of the ioctls that the backend may make, on any descriptor it
  // has, in both stages.
  std::vector<uint8_t> ioctl_types;
  // Replace the limits of the same names if they are higher; 0 changes nothing.
  // `address_space_bytes` raises load_bytes and memory_bytes too.
  uint64_t address_space_bytes = 0;
  uint64_t tasks = 0;
};

struct Policy {
  // Trees come first, and no path lies below one of the trees.
  std::vector<VisiblePath> visible;
  std::vector<uint8_t> ioctl_types;
  Limits limits;
  // True to turn off speculative store bypass and indirect branch speculation
  // for good, if the machine lets a process do so (README.md).
  bool disable_speculation = true;
  // False for a worker of many sessions, see GrantedCalls.
  bool fixed_descriptors = true;
};

// Returns the policy for `plugin`: the loader's libraries, the plugin's files
// and the granted paths and ioctls. Fails with kBackendUnavailable if a path of
// `plugin` is not absolute; the message names the path. The granted limits are
// not applied: call RaiseLimits for that, after all other changes of the
// limits.
Result<Policy> MakePolicy(const Plugin& plugin, const Grants& grants);
void RaiseLimits(const Grants& grants, Limits& limits);

}  // namespace bulkhead::sandbox
