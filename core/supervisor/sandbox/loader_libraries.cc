// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/loader_libraries.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;
using Kind = VisiblePath::Kind;

constexpr char kMultiarch[] = "x86_64-linux-gnu";
// The deepest nesting of includes. Bounds the recursion, since ld.so.conf may
// include itself.
constexpr int kIncludeDepth = 4;

// Adds the directories that `file` names, ld.so.conf or a file that it
// includes. Includes may nest `depth` deep.
void ReadConfiguration(const std::string& file, int depth,
                       std::vector<std::string>& directories) {
  std::ifstream input(file);
  for (std::string line; std::getline(input, line);) {
    line.resize(std::min(line.size(), line.find('#')));
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    if (line.starts_with("include ") && depth > 0) {
      glob_t found = {};
      const std::string pattern = line.substr(line.find_first_not_of(" ", 8));
      if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; ++i) {
          ReadConfiguration(found.gl_pathv[i], depth - 1, directories);
        }
      }
      globfree(&found);
    } else if (line.front() == '/') {
      directories.push_back(line);
    }
  }
}

void Add(VisiblePath path, std::vector<VisiblePath>& visible) {
  if (std::find(visible.begin(), visible.end(), path) == visible.end()) {
    visible.push_back(std::move(path));
  }
}

// Adds the shared objects directly in a directory, links as links.
void AddObjectsIn(const fs::path& directory,
                  std::vector<VisiblePath>& visible) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".so") == std::string::npos) continue;
    if (entry.is_symlink(error)) {
      Add({entry.path().string(), Kind::kSymlink,
           fs::read_symlink(entry.path(), error).string()},
          visible);
    } else if (entry.is_regular_file(error)) {
      Add({entry.path().string(), Kind::kFile, ""}, visible);
    }
  }
}

}  // namespace

std::vector<VisiblePath> LoaderLibraries() {
  std::vector<VisiblePath> visible;
  std::error_code error;
  for (const char* link : {"/lib", "/lib64"}) {
    if (fs::is_symlink(link, error)) {
      Add({link, Kind::kSymlink, fs::read_symlink(link, error).string()},
          visible);
    }
  }

  std::vector<std::string> directories = {
      "/lib64", "/usr/lib64", std::string("/lib/") + kMultiarch,
      std::string("/usr/lib/") + kMultiarch};
  ReadConfiguration("/etc/ld.so.conf", kIncludeDepth, directories);
  for (const std::string& named : directories) {
    // Canonical: /lib and /usr/lib are the same directory on merged systems.
    const fs::path directory = fs::canonical(named, error);
    if (error || !fs::is_directory(directory, error)) continue;
    if (directory.filename() == kMultiarch) {
      Add({directory.string(), Kind::kTree, ""}, visible);
    } else {
      AddObjectsIn(directory, visible);
    }
  }

  if (fs::is_directory("/etc/alternatives", error)) {
    Add({"/etc/alternatives", Kind::kTree, ""}, visible);
  }
  if (fs::is_regular_file("/etc/ld.so.cache", error)) {
    Add({"/etc/ld.so.cache", Kind::kFile, ""}, visible);
  }
  return visible;
}

}  // namespace bulkhead::sandbox
