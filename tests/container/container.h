// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/support/program.h"

namespace bulkhead::tests {

// A root directory of Debian 12 that debootstrap makes, and what a container
// has besides.
struct ContainerRoot {
  // The name below BULKHEAD_CONTAINER_ROOT, if that is set.
  std::string name;
  // The packages of Debian that it has, separated by commas.
  std::string packages;
  // A file of the last of these packages: where it is, the root is complete.
  std::string last_file;
  // A directory of this machine, which the containers see as /bulkhead,
  // read-only.
  std::string application;
};

// Containers of Podman, as root, with a root directory of Debian 12 that
// debootstrap made. They also see the sample files as /media, read-only.
//
// Making a root directory downloads some 250 MB and takes one to two minutes.
// BULKHEAD_CONTAINER_ROOT names a directory in which it is kept: it is made
// there if it does not exist. Otherwise it is removed with the object.
class Containers {
 public:
  explicit Containers(ContainerRoot root);
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  // Returns why no container can be run here, or an empty string.
  const std::string& obstacle() const { return obstacle_; }

  // Runs a shell script in a new container, without a network unless the
  // options ask for one. `options` are options of `podman run`.
  ProgramResult Run(const std::vector<std::string>& options,
                    const std::string& script) const;

 private:
  std::string FindObstacle();
  std::string MakeRoot();

  const ContainerRoot made_of_;
  std::string root_;
  bool keeps_root_ = false;
  std::vector<std::string> runtime_;  // Options that choose a runtime.
  std::string obstacle_;
};

}  // namespace bulkhead::tests
