// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// What a backend may have beyond its own files: asked for in the manifest
// (bulkhead.toml), granted by the operator (grants.toml). Both say it in the
// same words, and what counts is what both say:
//
//   const Permissions& asked = manifest.permissions;
//   const Effective effective = Intersect(asked, granted);
//
// There is no word for writing to a file: it cannot be asked for and cannot be
// granted. Values; every entry has passed AddPermission, so paths are absolute
// and clean, globs stay below /dev, and families exist.
struct Permissions {
  std::vector<std::string> devices;  // globs: "/dev/dri/renderD*"
  std::vector<std::string> read;     // a file, or a directory and all below it
  std::vector<std::string> ioctls;   // of sandbox/ioctl_families.h
  uint64_t memory_bytes = 0;  // address space of a process; 0: the default
  uint64_t threads = 0;       // processes and threads together; 0: the default

  bool empty() const { return *this == Permissions(); }
  bool operator==(const Permissions&) const = default;
};

// A device node has to match both. Either may be the wider one, and the
// intersection of two globs need not be a glob.
struct DevicePattern {
  std::string asked;
  std::string granted;

  // `path` has no wildcard. "*" does not match "/", nor a leading ".".
  bool Matches(const std::string& path) const;
  bool operator==(const DevicePattern&) const = default;
};

// What is both asked for and granted.
struct Effective {
  std::vector<DevicePattern> devices;
  std::vector<std::string> read;
  std::vector<std::string> ioctls;
  uint64_t memory_bytes = 0;
  uint64_t threads = 0;

  bool empty() const { return *this == Effective(); }
  bool operator==(const Effective&) const = default;
};

// Of each kind of entry. More say nothing that a glob or a directory does not.
inline constexpr size_t kMaxPermissions = 64;

// The five kinds by the word that the command line has for them: "device",
// "read", "ioctl", "memory" and "threads". Adds one entry, or says what is
// wrong with it: kInvalidArgument.
Status AddPermission(std::string_view kind, std::string_view value_untrusted,
                     Permissions& permissions);
// "read=/usr/share/acme", "memory=8G"
Status AddPermission(std::string_view text_untrusted, Permissions& permissions);

// As AddPermission takes them.
std::vector<std::string> ToTexts(const Permissions& permissions);
std::vector<std::string> ToTexts(const Effective& effective);
// With blanks between, for a command line. Quoted where a shell would look
// into it.
std::string ToArguments(const Permissions& permissions);

Effective Intersect(const Permissions& asked, const Permissions& granted);
// Of what is asked, that for which nothing at all is granted. A grant that is
// narrower than what was asked is what the operator chose.
Permissions Missing(const Permissions& asked, const Effective& effective);
// Of what is granted, that which goes beyond what is asked.
Permissions Beyond(const Permissions& granted, const Permissions& asked);

void Add(const Permissions& more, Permissions& permissions);
void Remove(const Permissions& less, Permissions& permissions);

}  // namespace bulkhead::grants
