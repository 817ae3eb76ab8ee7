// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// Installs the layout backend (layout_backend.cc) in a directory of its own,
// which the destructor removes, and grants it a directory that it reads while
// it is loaded. Needs BULKHEAD_TEST_DISTRIBUTION and BULKHEAD_TEST_LIBEXEC in
// the environment.
class LayoutInstallation {
 public:
  // `manifest` are further lines for bulkhead.toml.
  explicit LayoutInstallation(const std::string& manifest = "");
  LayoutInstallation(const LayoutInstallation&) = delete;
  LayoutInstallation& operator=(const LayoutInstallation&) = delete;
  ~LayoutInstallation();

  // Tells the backend what to do when it is loaded from now on: "abort",
  // "hang", "null", or nothing.
  void OrderAtLoad(const std::string& order) const;
  // Replaces the shared object as installers do: a new file with the same
  // contents is renamed over the old one.
  void ReplaceObject() const;

  HostOptions options() const;

 private:
  std::string path_;
};

// The facts that a session's process reports about itself, by the names of
// layout_backend.cc.
using Layout = std::map<std::string, std::string>;
// Opens `clip` on the device `layout` and returns the report, or an empty map
// and a failed test if there is none.
Layout ReportOf(Host& host, const std::string& clip);

}  // namespace bulkhead::tests
