// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace bulkhead::tests {

// A directory for the plugin path, filled as a vendor's installer would.
// Removed with the object.
class PluginTree {
 public:
  PluginTree();
  ~PluginTree();
  PluginTree(const PluginTree&) = delete;
  PluginTree& operator=(const PluginTree&) = delete;

  const std::string& path() const { return path_; }

  // Version 1.0 of a distribution with one backend, both called `name`: a copy
  // of openreg, whose devices are called openreg:0 and openreg:1 in any copy.
  // With a RECORD that has the object's true hash.
  void InstallOpenreg(const std::string& name) const;
  // A file below the directory; makes the folders in between.
  void Write(const std::string& below, const std::string& contents) const;

  std::string DistInfo(const std::string& name) const;
  std::string Object(const std::string& name) const;

 private:
  std::string path_;
};

}  // namespace bulkhead::tests
