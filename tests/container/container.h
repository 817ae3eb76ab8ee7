// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/support/program.h"

namespace bulkhead::tests {

// Containers of Podman, as root, with a root directory of Debian 12 that
// debootstrap made and the built programs of this test:
//
//   /bulkhead/cli/bulkhead, /bulkhead/dist/libexec    read-only
//   /media                                            the sample files,
//   read-only
//
// Making the root directory downloads some 250 MB and takes one to two minutes.
// BULKHEAD_CONTAINER_ROOT names a directory in which it is kept: it is made
// there if it does not exist. Otherwise it is removed with the object.
class Containers {
 public:
  Containers();
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  // Returns why no container can be run here, or an empty string.
  const std::string& obstacle() const { return obstacle_; }

  // Runs a shell script in a new container. `options` are options of
  // `podman run`.
  ProgramResult Run(const std::vector<std::string>& options,
                    const std::string& script) const;

 private:
  std::string FindObstacle();
  std::string MakeRoot();

  std::string application_;
  std::string root_;
  bool keeps_root_ = false;
  std::vector<std::string> runtime_;  // Options that choose a runtime.
  std::string obstacle_;
};

}  // namespace bulkhead::tests
