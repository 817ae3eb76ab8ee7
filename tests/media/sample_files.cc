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

// Returns every file of a directory but those that describe it.
std::vector<SampleFile> FilesIn(const char* name) {
  const std::string directory = Directory(name);
  std::vector<SampleFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string file = entry.path().filename();
    if (file == kManifest || file == "README.md") continue;
    files.push_back({file, entry.path()});
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  RequireFiles(directory, files);
  return files;
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

std::vector<SampleFile> AllMediaFiles() {
  const std::string directory = Directory("media");
  std::ifstream manifest(directory + "/" + kManifest);
  std::string line;
  std::getline(manifest, line);
  const std::vector<std::string> columns = Fields(line);
  std::vector<SampleFile> files;
  while (std::getline(manifest, line)) {
    std::vector<std::string> fields = Fields(line);
    fields.resize(columns.size());
    const auto field = [&](const char* name) -> const std::string& {
      return fields.at(std::find(columns.begin(), columns.end(), name) -
                       columns.begin());
    };
    SampleFile& file = files.emplace_back();
    file.name = fields[0];
    file.path = directory + "/" + fields[0];
    file.has_video = field("decode_video").starts_with("ok");
    file.has_sound = field("decode_audio").starts_with("ok");
    // The MD5 of damaged pictures is of pictures that nobody delivers, and
    // with a changing size of pictures that another machine has scaled.
    if (field("decode_video") == "ok" &&
        field("auto_tags").find("dimchange") == std::string::npos) {
      file.planes_md5 = field("native_video_md5");
    }
  }
  RequireFiles(directory, files);
  return files;
}

std::vector<SampleFile> MediaFiles() {
  std::vector<SampleFile> files = AllMediaFiles();
  std::erase_if(files, [](const SampleFile& file) { return !file.has_video; });
  RequireFiles(Directory("media"), files);
  return files;
}

std::vector<SampleFile> HostileFiles() { return FilesIn("hostile"); }

std::vector<SampleFile> UnusualFiles() { return FilesIn("unusual"); }

std::string WhyNoSamples() { return "BULKHEAD_SHARED is not set"; }

std::string TestName(const SampleFile& file) {
  std::string name = file.name;
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

}  // namespace bulkhead::tests
