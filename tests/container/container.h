// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ipc/unique_fd.h"
#include "tests/support/program.h"

namespace bulkhead::tests {

// Containers of Podman, as root, with one root directory: a copy of the Debian
// that tests/container/debian_root made and BULKHEAD_CONTAINER_ROOT names. They
// see what earlier ones wrote there; it is gone with the object. They also see
// the sample files as /media, read-only.
//
// The copy is an overlay in memory where the kernel allows that. It is mounted
// in a namespace of this process, so make it before the first thread.
class Containers {
 public:
  // `application` is a directory of this machine, which the containers see as
  // /bulkhead, read-only.
  explicit Containers(std::string application);
  ~Containers();
  Containers(const Containers&) = delete;
  Containers& operator=(const Containers&) = delete;

  // Returns why no container can be run here, or an empty string.
  const std::string& obstacle() const { return obstacle_; }

  // Runs a shell script in a new container, without a network. `options` are
  // options of `podman run`.
  ProgramResult Run(const std::vector<std::string>& options,
                    const std::string& script) const;

 private:
  std::string FindObstacle();
  std::string CopyDebian();

  const std::string application_;
  ipc::UniqueFd debian_;  // Locked, so that debian_root does not remove it.
  std::string place_;     // The directory that has the copy, `root_`.
  std::string root_;
  std::vector<std::string> runtime_;  // Options that choose a runtime.
  std::string obstacle_;
};

}  // namespace bulkhead::tests
