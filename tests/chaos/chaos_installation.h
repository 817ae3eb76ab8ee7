// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// The chaos backend, installed in a directory of its own with a script of
// faults. Removed with the object. Needs BULKHEAD_TEST_CHAOS and
// BULKHEAD_TEST_LIBEXEC in the environment.
class ChaosInstallation {
 public:
  explicit ChaosInstallation(const std::string& faults = "");
  ChaosInstallation(const ChaosInstallation&) = delete;
  ChaosInstallation& operator=(const ChaosInstallation&) = delete;
  ~ChaosInstallation();

  // For zygotes that are started from now on.
  void SetFaults(const std::string& faults) const;

  // On the plugin path; ends without a slash.
  const std::string& path() const { return path_; }

  // Finds it and what comes with Bulkhead, and gives up soon.
  HostOptions options() const;
  // Of a stream with faults of its own.
  static VideoOptions Stream(const std::string& faults = "");
  static AudioOptions AudioStream(const std::string& faults = "");

 private:
  std::string path_;
};

}  // namespace bulkhead::tests
