// SPDX-License-Identifier: Apache-2.0
#include "tests/media/sample_files.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "MANIFEST.tsv";

// Returns a directory below the one that BULKHEAD_SHARED names; empty if it
// names none.
std::string Directory(const char* name) {
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr || *shared == '\0') return std::string();
  return std::string(shared) + "/" + name;
}

// Ends the test program if a directory was named and has no file: a table over
// no rows would pass. The lists are read before gtest can fail a test.
void RequireFiles(const std::string& directory,
                  const std::vector<SampleFile>& files) {
  if (directory.empty() || !files.empty()) return;
  std::fprintf(stderr,
               "%s has no sample files; unset BULKHEAD_SHARED, or let it name "
               "a directory that has them\n",
               directory.c_str());
  std::exit(1);
}

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '\t');) {
    fields.push_back(field);
  }
  return fields;
}

}  // namespace

std::vector<SampleFile> MediaFiles() {
  const std::string directory = Directory("media");
  std::ifstream manifest(directory + "/" + kManifest);
  std::string line;
  std::getline(manifest, line);
  const std::vector<std::string> columns = Fields(line);
  const size_t column =
      std::find(columns.begin(), columns.end(), "decode_video") -
      columns.begin();
  std::vector<SampleFile> files;
  while (std::getline(manifest, line)) {
    const std::vector<std::string> fields = Fields(line);
    if (column >= fields.size() || !fields[column].starts_with("ok")) continue;
    files.push_back({fields[0], directory + "/" + fields[0]});
  }
  RequireFiles(directory, files);
  return files;
}

std::vector<SampleFile> HostileFiles() {
  const std::string directory = Directory("hostile");
  std::vector<SampleFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name != kManifest) files.push_back({name, entry.path()});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  RequireFiles(directory, files);
  return files;
}

std::string WhyNoSamples() { return "BULKHEAD_SHARED is not set"; }

std::string TestName(const SampleFile& file) {
  std::string name = file.name;
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

}  // namespace bulkhead::tests
