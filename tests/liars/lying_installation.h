// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A libexec directory of its own, with the real bulkheadd and reaper, in which
// a lying worker (tests/children) stands in for bulkhead-worker, and with one
// distribution for each name: it reserves the device NAME and its worker tells
// the lie NAME. Removed with the object.
class LyingInstallation {
 public:
  explicit LyingInstallation(const std::vector<std::string>& names);
  LyingInstallation(const LyingInstallation&) = delete;
  LyingInstallation& operator=(const LyingInstallation&) = delete;
  ~LyingInstallation();

  // Short deadlines, few restarts.
  HostOptions options() const;
  // Any file will do: nobody reads it.
  std::string media() const { return path_ + "/made-up.mp4"; }
  // What stands for the shared object of that distribution.
  std::string Object(const std::string& name) const {
    return path_ + "/backends/" + name + "/libliar.so";
  }

 private:
  void AddDistribution(const std::string& name) const;

  std::string path_;
};

}  // namespace bulkhead::tests
