// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// A file below the directory that BULKHEAD_SHARED names. The lists of files are
// empty if the variable is not set. If it is set and there is no file, the test
// program ends with an error.
struct SampleFile {
  std::string name;
  std::string path;
};

// Returns the files of media/MANIFEST.tsv in which FFmpeg finds video,
// including damaged video.
std::vector<SampleFile> MediaFiles();

// Returns every file of hostile/.
std::vector<SampleFile> HostileFiles();

// Returns why the lists are empty, for people.
std::string WhyNoSamples();

// Returns the file's name in the characters that gtest allows in a test's name.
std::string TestName(const SampleFile& file);

}  // namespace bulkhead::tests
