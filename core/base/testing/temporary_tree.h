// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "ipc/unique_fd.h"

namespace bulkhead {

// A directory for the files of one test, removed with the object. Tests only.
class TemporaryTree {
 public:
  explicit TemporaryTree(const std::string& directory = ::testing::TempDir()) {
    std::string path = directory + "/bulkhead-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(path);
  }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;
  ~TemporaryTree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  // Returns the absolute path of `below` in the directory.
  std::string operator/(std::string_view below) const {
    return path_ + "/" + std::string(below);
  }

  // Writes a file, and makes the folders above it.
  void Write(std::string_view below, std::string_view contents) const {
    const std::filesystem::path file = *this / below;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << contents;
  }

  // Writes the METADATA of a distribution and, if not empty, its
  // entry_points.txt.
  void WriteDistribution(std::string_view folder, std::string_view name,
                         std::string_view version,
                         std::string_view entry_points = "") const {
    const std::string below = std::string(folder) + "/";
    Write(below + "METADATA",
          "Metadata-Version: 2.1\nName: " + std::string(name) +
              "\nVersion: " + std::string(version) + "\n\nText\n");
    if (!entry_points.empty()) Write(below + "entry_points.txt", entry_points);
  }

  void Remove(std::string_view below) const {
    std::filesystem::remove_all(*this / below);
  }
  // Makes a symbolic link at `below` that points to `target`.
  void Link(const std::string& target, std::string_view below) const {
    std::filesystem::create_symlink(target, *this / below);
  }

  // Opens the directory for reading.
  ipc::UniqueFd Open() const {
    return ipc::UniqueFd(
        open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

 private:
  std::string path_;
};

}  // namespace bulkhead
