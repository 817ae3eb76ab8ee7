// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tests/fuzz/check.h"

namespace bulkhead::fuzz {

// A directory for the files that a fuzzer gives to a reader of files. Removed
// with the object. A fuzzer keeps one for all inputs.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "fuzz-XXXXXX").string();
    FUZZ_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  // Writes a file in place of one of that name, and makes the folder above it.
  void Write(const std::string& below, std::string_view contents) const {
    const std::filesystem::path file = path_ + "/" + below;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
  }
  // Returns the name of the only file in `folder`.
  std::string OnlyFile(const std::string& folder) const {
    std::string only;
    for (const auto& entry :
         std::filesystem::directory_iterator(path_ + "/" + folder)) {
      if (!entry.is_regular_file()) continue;
      FUZZ_CHECK(only.empty());
      only = folder + "/" + entry.path().filename().string();
    }
    return only;
  }

 private:
  std::string path_;
};

}  // namespace bulkhead::fuzz
