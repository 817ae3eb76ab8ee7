// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::tests {

// Random faults over many sessions at the same time in one application. Each
// session decodes one file of tests/faults/soak_media.h while one thing happens
// to it, and every frame is compared with that of an undisturbed decode: none
// may be lost, come twice or be another.
struct SoakOptions {
  uint64_t seed = 1;
  uint64_t start_at = 0;  // the number of the first fault
  uint64_t faults = 1000;
  int sessions = 16;
};

// Of what this process and bulkheadd hold, over some faults in a row.
struct SoakWindow {
  uint64_t first = 0;  // fault
  uint64_t samples = 0;
  double descriptors = 0;  // means
  double resident_kib = 0;
  double supervisor_descriptors = 0;
  double supervisor_resident_kib = 0;
  double processes = 0;
};

struct SoakReport {
  uint64_t done = 0;
  uint64_t frames = 0;
  // Of those that happened: some wait for a step that does not come.
  uint64_t happened = 0;
  uint64_t restarts = 0;
  std::vector<std::string> failures;
  std::vector<SoakWindow> windows;  // of 1000 faults, or a tenth if fewer
};

// Prints a line a window, and each failure.
SoakReport RunSoak(const SoakOptions& options);

}  // namespace bulkhead::tests
