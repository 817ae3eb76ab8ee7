// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::tests {

// The soak test: random faults over many concurrent sessions in one
// application. Each session decodes one file of tests/faults/soak_media.h while
// one fault happens to it. Every frame is compared with an undisturbed decode:
// no frame may be lost, repeated or different.
struct SoakOptions {
  uint64_t seed = 1;
  uint64_t start_at = 0;  // the number of the first fault
  uint64_t faults = 1000;
  int sessions = 16;
};

// The resources that this process and bulkheadd held during a series of faults.
// The doubles are means over the samples.
struct SoakWindow {
  uint64_t first = 0;  // the number of the first fault
  uint64_t samples = 0;
  double descriptors = 0;
  double resident_kib = 0;
  double supervisor_descriptors = 0;
  double supervisor_resident_kib = 0;
  double processes = 0;
};

struct SoakReport {
  uint64_t done = 0;  // the number of faults that were planned and carried out
  uint64_t frames = 0;  // the number of frames that were compared
  // The number of faults that happened. Some faults wait for a step that the
  // session never reaches.
  uint64_t happened = 0;
  uint64_t restarts = 0;
  std::vector<std::string> failures;
  // Each window covers 1000 faults, or a tenth of a run with fewer.
  std::vector<SoakWindow> windows;
};

// Runs the soak. Prints one line for each window, and each failure.
SoakReport RunSoak(const SoakOptions& options);

}  // namespace bulkhead::tests
