// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// Permissions to use more than the backend's own files. The manifest
// (bulkhead.toml) asks for permissions, and the operator (grants.toml) grants
// them, both with the same keys. The backend gets the permissions that are both
// asked for and granted:
//
//   const Permissions& asked = manifest.permissions;
//   const Effective effective = Intersect(asked, granted);
//
// Writing to a file can neither be asked for nor granted. A plain value. Every
// entry has passed AddPermission: paths are absolute and clean, globs are below
// /dev, and families exist.
struct Permissions {
  std::vector<std::string> devices;  // Globs: "/dev/dri/renderD*".
  std::vector<std::string> read;     // Files, and directories as a whole.
  std::vector<std::string> ioctls;   // Names in ioctl_families.h.
  uint64_t memory_bytes = 0;  // Address space of a process; 0: the default.
  uint64_t threads = 0;       // Processes and threads; 0: the default.

  bool empty() const { return *this == Permissions(); }
  bool operator==(const Permissions&) const = default;
};

// The device nodes that match two globs: the manifest's and the operator's.
// Either glob may be the wider one. Both are kept, since the intersection of
// two globs need not be a glob.
struct DevicePattern {
  std::string asked;
  std::string granted;

  // Returns whether `path`, which has no wildcard, matches both globs. "*" does
  // not match "/", nor a leading ".".
  bool Matches(const std::string& path) const;
  bool operator==(const DevicePattern&) const = default;
};

// The permissions that are both asked for and granted.
struct Effective {
  std::vector<DevicePattern> devices;
  std::vector<std::string> read;
  std::vector<std::string> ioctls;
  uint64_t memory_bytes = 0;
  uint64_t threads = 0;

  bool empty() const { return *this == Effective(); }
  bool operator==(const Effective&) const = default;
};

// The most entries of each kind. More are not needed, since a glob or a
// directory can stand for many files.
inline constexpr size_t kMaxPermissions = 64;

// Adds one entry. `kind` is the word of the command line: "device", "read",
// "ioctl", "memory" or "threads". Fails with kInvalidArgument if the entry is
// wrong; the message says why.
Status AddPermission(std::string_view kind, std::string_view value_untrusted,
                     Permissions& permissions);
// Adds an entry written as "read=/usr/share/acme" or "memory=8G".
Status AddPermission(std::string_view text_untrusted, Permissions& permissions);

// Returns the entries in the form that AddPermission takes:
// "read=/usr/share/acme".
std::vector<std::string> ToTexts(const Permissions& permissions);
std::vector<std::string> ToTexts(const Effective& effective);
// Returns the entries separated by blanks, for a command line. Entries with
// characters that a shell interprets are quoted.
std::string ToArguments(const Permissions& permissions);

// Returns the permissions that are both asked for and granted.
Effective Intersect(const Permissions& asked, const Permissions& granted);
// Returns the permissions in `asked` for which nothing at all is granted. A
// request that is granted in part is not missing, since the narrower grant is
// the operator's choice.
Permissions Missing(const Permissions& asked, const Effective& effective);
// Returns the permissions in `granted` that `asked` does not cover.
Permissions Beyond(const Permissions& granted, const Permissions& asked);

// Adds the entries of `more` to `permissions`; of two amounts the larger one
// stays.
void Add(const Permissions& more, Permissions& permissions);
// Removes the entries of `less` from `permissions`. If `less` has an amount,
// the amount is removed as a whole, even if it differs.
void Remove(const Permissions& less, Permissions& permissions);

}  // namespace bulkhead::grants
