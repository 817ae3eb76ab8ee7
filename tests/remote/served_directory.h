// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// A directory as a program of its own serves it (FUSE), like one of sshfs or of
// a network: the files of `source`, read-only, at `place`. The kernel remembers
// no name and no attribute, as for a directory that others write too.
//
//   auto served = ServedDirectory::Mount(source, place);
//   served->Stop();  // Now whoever touches a file waits, for ever if need be.
//
// Needs a mount namespace of the caller's own (own_world.h), in which the mount
// stays until the destructor. Not thread-safe.
class ServedDirectory {
 public:
  // Returns null, with the reason in errno, if the kernel refuses that.
  static std::unique_ptr<ServedDirectory> Mount(const std::string& source,
                                                const std::string& place);
  // Everybody who waits gets an error.
  ~ServedDirectory();
  ServedDirectory(const ServedDirectory&) = delete;
  ServedDirectory& operator=(const ServedDirectory&) = delete;

  // Stops answering, and goes on with what was asked meanwhile.
  void Stop();
  void GoOn();

 private:
  ServedDirectory(ipc::UniqueFd kernel, const std::string& source,
                  std::string place);

  const std::string place_;
  ipc::ForkedChild server_;
};

}  // namespace bulkhead::tests
