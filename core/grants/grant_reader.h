// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// Reads a file that only root or this user can have written. It has to be a
// regular file, not a link, owned by root or by the user of this process, and
// not writable for its group or for others. Fails with kInvalidArgument for any
// other file; the message says why and, if possible, how to repair that. Fails
// with kNotFound if there is no file.
Result<std::string> ReadBelievedFile(const std::string& path);

// Reads the grants of one file. Problems become diagnostics. A missing file
// means that nothing is granted, and is no problem.
Grants ReadGrantFile(const std::string& path);

// Holds the grants of all files, and reads a file again when it has changed.
// Owned by Supervisor and used by its one thread. Blocks as long as the file
// system does.
class GrantReader {
 public:
  GrantReader() = default;
  explicit GrantReader(std::vector<std::string> paths);

  // Checks the files for changes and returns their grants. The reference is
  // valid until the next call.
  const Grants& Latest();

 private:
  struct Source {
    std::string path;
    std::string state;  // The state just before the file was read.
    Grants grants;
  };

  std::vector<Source> sources_;
  Grants all_;
  bool is_read_ = false;
};

}  // namespace bulkhead::grants
