// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// A directory for the plugin path, filled as a vendor's installer fills it. The
// destructor removes the directory.
class PluginTree {
 public:
  PluginTree();
  ~PluginTree();
  PluginTree(const PluginTree&) = delete;
  PluginTree& operator=(const PluginTree&) = delete;

  const std::string& path() const { return path_; }

  // Installs version 1.0 of a distribution with one backend, both called
  // `name`. The backend is a copy of openreg; its devices are called openreg:0
  // and openreg:1 in every copy. RECORD has the correct hash of the shared
  // object.
  void InstallOpenreg(const std::string& name) const;
  // Writes a file at `below` within the directory and creates its parents.
  void Write(const std::string& below, const std::string& contents) const;

  std::string DistInfo(const std::string& name) const;
  std::string Object(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace bulkhead::tests
