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
  // These members are read from media/MANIFEST.tsv: whether FFmpeg decodes
  // video and sound of the file, even if damaged, and the MD5 of all pictures
  // as FFmpeg made them on another machine, which is empty if there is none to
  // compare with.
  bool has_video = false;
  bool has_sound = false;
  std::string planes_md5;
};

// Returns the files of media/MANIFEST.tsv.
std::vector<SampleFile> AllMediaFiles();

// Returns those that have video.
std::vector<SampleFile> MediaFiles();

// Returns every file of hostile/.
std::vector<SampleFile> HostileFiles();

// Returns every file of unusual/: sound files of kinds that are easily taken
// for damaged ones.
std::vector<SampleFile> UnusualFiles();

// Returns why the lists are empty, for people.
std::string WhyNoSamples();

// Returns the file's name in the characters that gtest allows in a test's name.
std::string TestName(const SampleFile& file);

}  // namespace bulkhead::tests
