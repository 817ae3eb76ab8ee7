// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// A directory with the backend `asking`, and beside the backend the files that
// are granted and those that are not. The destructor removes the directory.
class AskingInstallation {
 public:
  AskingInstallation();
  ~AskingInstallation();
  AskingInstallation(const AskingInstallation&) = delete;
  AskingInstallation& operator=(const AskingInstallation&) = delete;

  const std::string& path() const { return path_; }
  std::string plugins() const { return path_ + "/plugins"; }
  std::string grants() const { return path_ + "/grants.toml"; }
  // The hash of the shared object, as in RECORD.
  const std::string& hash() const { return hash_; }

  // Writes the lines of [permissions] in the backend's manifest, and the
  // attempts that the backend makes while it is loaded.
  void Ask(const std::string& permissions, const std::string& attempts) const;
  // Writes a [[grant]] with these lines, for hash() or another hash.
  void Grant(const std::string& lines) const;
  void Grant(const std::string& lines, const std::string& hash) const;
  void Write(const std::string& below, const std::string& text) const;

 private:
  std::string path_;
  std::string hash_;
};

}  // namespace bulkhead::tests
