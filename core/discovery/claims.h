// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/grants/grants.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// Assigns each name of a backend or a device to the first who wants it.
class Claims {
 public:
  explicit Claims(const std::vector<grants::Grant>& grants) : grants_(grants) {}

  // Breaks a candidate whose name is taken; otherwise gives it the devices that
  // are free.
  void Settle(BackendCandidate& candidate, Diagnostics& diagnostics);

 private:
  const std::vector<grants::Grant>& grants_;
  std::map<std::string, std::string> granted_;   // Name to place of the grant.
  std::map<std::string, std::string> backends_;  // Name to file.
  std::map<std::string, std::string> devices_;   // Device to backend.
};

}  // namespace bulkhead::discovery
