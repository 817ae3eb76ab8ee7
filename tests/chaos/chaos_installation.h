// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// Installs the chaos backend with a script of faults (see fault.h) in a
// directory of its own, which the destructor removes. Needs BULKHEAD_TEST_CHAOS
// and BULKHEAD_TEST_LIBEXEC in the environment.
class ChaosInstallation {
 public:
  explicit ChaosInstallation(const std::string& faults = "");
  ChaosInstallation(const ChaosInstallation&) = delete;
  ChaosInstallation& operator=(const ChaosInstallation&) = delete;
  ~ChaosInstallation();

  // Replaces the script. The change applies to zygotes that start from now on.
  void SetFaults(const std::string& faults) const;

  // Has the backend ask for the node /dev/null and grants it, so that the
  // backend has a device that it can lose. Applies to options() from now on.
  void GrantADevice();

  // Has the backend ask for that much memory and grants it. Applies to
  // options() from now on.
  void GrantMemory(uint64_t bytes);

  // The directory to put on the plugin path, without a slash at the end.
  const std::string& path() const { return path_; }

  // Returns options with which a Host finds the chaos backend and the backends
  // that come with Bulkhead. The deadlines are patient.
  HostOptions options() const;
  // Returns the options of a stream on the chaos device, with a script of
  // faults of its own.
  static VideoOptions Stream(const std::string& faults = "");
  static AudioOptions AudioStream(const std::string& faults = "");

 private:
  // Has the backend ask for a permission, a line of TOML, and grants it.
  void Grant(const std::string& permission);

  std::string path_;
  std::string grants_;  // the path of a file of grants; empty if there is none
};

}  // namespace bulkhead::tests
