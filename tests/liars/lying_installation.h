// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A libexec directory with the real bulkheadd, reaper and backends, and with a
// lying worker (tests/children) in place of bulkhead-worker, which is the real
// one for the backends of Bulkhead's own. Beside it lies one
// distribution for each name: it reserves the device NAME, and its worker tells
// the lie NAME. The destructor removes everything.
class LyingInstallation {
 public:
  explicit LyingInstallation(const std::vector<std::string>& names);
  LyingInstallation(const LyingInstallation&) = delete;
  LyingInstallation& operator=(const LyingInstallation&) = delete;
  ~LyingInstallation();

  // Returns options with patient deadlines and few restarts.
  HostOptions options() const;
  // The input to open. Lying workers read no media, so the file is arbitrary.
  std::string media() const { return path_ + "/made-up.mp4"; }
  // Has the liar bring a clip of which it makes up the right pictures, for its
  // health check. Its codec excludes the built-in clip.
  void BringClip(const std::string& name) const;
  // The file that takes the place of the distribution's shared object.
  std::string Object(const std::string& name) const {
    return path_ + "/plugins/" + name + "/libliar.so";
  }

 private:
  void AddDistribution(const std::string& name) const;

  std::string path_;
};

}  // namespace bulkhead::tests
