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
// the resources that it may use. Files that are not in a Policy do not exist
// for the backend, whatever its code asks for. bulkheadd makes a Policy from an
// installed distribution and the operator's grants, compiles it (lockdown.h)
// and starts the backend under it (launcher.h).
//
//   Plugin plugin{.object_path = "/opt/acme/libacme.so",
//                 .entry_symbol = "acme_backend",
//                 .files = {{"/opt/acme/libacme.so", IdentityOf(object)}}};
//   ASSIGN_OR_RETURN(Policy policy, MakePolicy(plugin, {}));
//
// Plain values. Trusted: the paths come from installed metadata that discovery
// has validated.

// The degree of isolation that is in force. Order and values are the same as in
// schema::Tier.
enum class Tier : uint16_t {
  kNone = 0,     // Anything less than kReduced: no backend runs.
  kReduced = 1,  // Landlock and both seccomp stages, no namespaces.
  kFull = 2,     // Six namespaces, both seccomp stages, Landlock if available.
};

// Returns "none", "reduced" or "full". The string has static storage.
const char* TierName(Tier tier);

// A path that the backend sees, under the same name as outside of the sandbox.
// The backend cannot change a file or directory, but can write to a device.
struct VisiblePath {
  enum class Kind {
    kFile,     // A single file.
    kTree,     // A directory and everything below it.
    kSymlink,  // A link. Its target is visible only if it is in the policy too.
    kDevice,   // The node of a character device, which the backend may open.
  };

  std::string path;
  Kind kind;
  std::string target;  // The text of a link; empty for other kinds.
  // Set for the plugin's files and for granted paths: the path is shown only if
  // it still leads to this object. Not set for the system's libraries.
  std::optional<ObjectIdentity> identity;
  // A sealed memfd, borrowed, or -1. In tier full, the backend finds a private
  // copy of these contents in place of the file.
  int contents = -1;

  bool operator==(const VisiblePath&) const = default;
};

// Returns half of this machine's memory, in bytes.
uint64_t HalfOfMemory();

// The resource limits of a backend and their defaults. They hold for each of
// its processes, unless a member says otherwise. 0 forbids the resource.
struct Limits {
  // Bounds a memory leak. The default is high, because decoders reserve far
  // more memory than they touch.
  uint64_t address_space_bytes = kBackendAddressSpaceBytes;
  // Bounds the part of the address space that is mapped when the backend is
  // loaded. Each worker is a clone and has that part too (memory_limit.h).
  // Bulkhead's own backends have less than 200 MiB.
  uint64_t load_bytes = uint64_t{1} << 30;
  uint64_t stack_bytes = uint64_t{8} << 20;
  // Also bounds how many descriptors the process can have in flight in sockets.
  uint64_t open_files = kBackendOpenFiles;
  // Processes and threads of the backend together. Workers can start tasks only
  // up to three quarters of the limit, so that the zygote can still clone other
  // workers. Enforced if the backend has a user namespace, a user id or a
  // cgroup of its own; without them, the limit would also count the user's
  // other processes.
  uint64_t tasks = 4096;
  // The size of any file or memfd that is written; mapped memory is unaffected.
  uint64_t file_bytes = 0;
  // The memory that the processes of the backend use together, without swap.
  // Frames do not count, since they are the application's memory. Enforced only
  // in a cgroup (cgroup.h).
  uint64_t memory_bytes = HalfOfMemory();
};

// The files of a vendor's distribution. The caller of MakePolicy() has checked
// that they belong to the distribution.
struct Plugin {
  struct File {
    std::string path;  // Absolute.
    ObjectIdentity identity;
    int contents = -1;  // See VisiblePath::contents.
  };

  std::string object_path;   // Absolute; one of `files`.
  std::string entry_symbol;  // The attr of the entry point.
  std::vector<File> files;   // Regular files.
};

// The operator's grants to this backend (core/grants), without paths that do
// not exist.
struct Grants {
  std::vector<GrantedPath> paths;
  // The type bytes of the ioctls that the backend may make on any of its
  // descriptors, in both stages.
  std::vector<uint8_t> ioctl_types;
  // RaiseLimits() raises the member of Limits with the same name to this value.
  // `address_space_bytes` raises load_bytes and memory_bytes too.
  uint64_t address_space_bytes = 0;
  uint64_t tasks = 0;
};

struct Policy {
  // Trees come first, and no path lies below a tree.
  std::vector<VisiblePath> visible;
  std::vector<uint8_t> ioctl_types;
  Limits limits;
  // True to turn off speculative store bypass and indirect branch speculation
  // for good, if the machine lets a process do so (README.md).
  bool disable_speculation = true;
  // True if the shared memory of a worker has the fixed descriptor numbers of
  // ipc/descriptors.h. The filter then lets the worker map only these
  // descriptors. False if a worker serves many sessions; see GrantedCalls.
  bool fixed_descriptors = true;
};

// Returns the policy for `plugin`: the loader's libraries, the plugin's files
// and the granted paths and ioctls. Fails with kBackendUnavailable if a path of
// `plugin` is not absolute; the message names the path. Does not apply granted
// limits.
Result<Policy> MakePolicy(const Plugin& plugin, const Grants& grants);
// Applies granted limits. Call it after all other changes of `limits`.
void RaiseLimits(const Grants& grants, Limits& limits);

}  // namespace bulkhead::sandbox
