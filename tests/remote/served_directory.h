// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// Serves a directory by a program of its own (FUSE), as sshfs or a network do:
// the files of `source`, read-only, at `place`. The kernel remembers no name
// and no attribute, as for a directory that others write too.
//
//   auto served = ServedDirectory::Mount(source, place);
//   served->Stop();  // Now whoever touches a file waits, for ever if need be.
//
// The caller needs a mount namespace of its own (CLONE_NEWNS), in which the
// mount stays until the destructor. Not thread-safe.
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
