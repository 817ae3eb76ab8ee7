// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// A directory with the backend `asking` installed in it, and beside it what is
// to be granted and what is not. Removed with the object.
class AskingInstallation {
 public:
  AskingInstallation();
  ~AskingInstallation();
  AskingInstallation(const AskingInstallation&) = delete;
  AskingInstallation& operator=(const AskingInstallation&) = delete;

  const std::string& path() const { return path_; }
  std::string plugins() const { return path_ + "/plugins"; }
  std::string grants() const { return path_ + "/grants.toml"; }
  // RECORD's hash of the object.
  const std::string& hash() const { return hash_; }

  // The lines of [permissions], and what to try while loading.
  void Ask(const std::string& permissions, const std::string& attempts) const;
  // A [[grant]] for this hash; the lines of it.
  void Grant(const std::string& lines) const;
  void Grant(const std::string& lines, const std::string& hash) const;
  void Write(const std::string& below, const std::string& text) const;

 private:
  std::string path_;
  std::string hash_;
};

}  // namespace bulkhead::tests
