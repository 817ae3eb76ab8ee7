// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// A file below the directory that BULKHEAD_SHARED names.
struct SampleFile {
  std::string name;
  std::string path;
};

// Those of media/MANIFEST.tsv in which FFmpeg finds video, also damaged video.
// Empty: there are no samples on this machine.
std::vector<SampleFile> MediaFiles();

// Every file of hostile/.
std::vector<SampleFile> HostileFiles();

// Why the lists are empty, for people.
std::string WhyNoSamples();

// As gtest wants the names of its tests.
std::string TestName(const SampleFile& file);

}  // namespace bulkhead::tests
