// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/supervisor/sandbox/machine_facts.h"

namespace bulkhead::sandbox {

// One part of the sandbox that this machine does not provide, explained to the
// operator.
struct SandboxGap {
  std::string missing;   // The missing part, as a noun.
  std::string evidence;  // The observation that shows the gap.
  std::string remedy;    // Exact steps; may have several lines.
  std::string cost;      // The consequence of leaving the gap open.

  // Returns "`missing`: `evidence`".
  std::string Sentence() const { return missing + ": " + evidence; }
};

// Returns the gaps that the facts show. The gaps that prevent tier full come
// first. A pure function of the facts.
std::vector<SandboxGap> ExplainGaps(const MachineFacts& facts);

}  // namespace bulkhead::sandbox
