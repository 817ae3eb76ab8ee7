// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/supervisor/sandbox/machine_facts.h"

namespace bulkhead::sandbox {

// One thing that the sandbox lacks on this machine, for the operator.
struct SandboxGap {
  std::string missing;   // what is not there
  std::string evidence;  // why: what was seen
  std::string remedy;    // what to do, exactly; lines
  std::string cost;      // what it means to leave it as it is

  // "`missing`: `evidence`".
  std::string Sentence() const { return missing + ": " + evidence; }
};

// What keeps it from tier full comes first. Asks the machine nothing.
std::vector<SandboxGap> ExplainGaps(const MachineFacts& facts);

}  // namespace bulkhead::sandbox
