// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// Assigns each backend name and each device name to the first candidate that
// claims it, in order of precedence. Bulkhead's own names are reserved
// (reserved_names.h); a grant with `reserved_name` lets a package take one. Not
// thread-safe.
class Claims {
 public:
  // Borrows `grants`.
  explicit Claims(const std::vector<grants::Grant>& grants) : grants_(grants) {}

  // Decides about one candidate. Call this for all candidates, in order of
  // precedence. A candidate whose name is taken, or reserved and not granted,
  // becomes kBroken. One of Bulkhead's own backends becomes kDisabled if a
  // package got its name by a grant. Any other candidate gets the device names
  // of its manifest that are free; a warning reports each name that it does not
  // get. A candidate that is kDisabled already gets no names.
  void Settle(BackendCandidate& candidate, Diagnostics& diagnostics);

 private:
  const std::vector<grants::Grant>& grants_;
  // Reserved names that packages have by a grant; name to FILE:LINE.
  std::map<std::string, std::string> granted_;
  std::map<std::string, std::string> backends_;  // Name to file.
  std::map<std::string, std::string> devices_;   // Device to backend.
};

}  // namespace bulkhead::discovery
