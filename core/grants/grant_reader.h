// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/grants/grants.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// A file that others could have written is not believed: it has to be a
// regular file, no link, owned by root or the user of this process, and not
// writable for its group or for all. kInvalidArgument says how to mend it;
// kNotFound: there is none.
Result<std::string> ReadBelievedFile(const std::string& path);

// What is wrong is a diagnostic. No file is no grants and nothing wrong.
Grants ReadGrantFile(const std::string& path);

// The grants of all files, read again when one of them has changed.
//
// Owned by Supervisor, for one thread. Blocks for as long as the file system
// does.
class GrantReader {
 public:
  GrantReader() = default;
  explicit GrantReader(std::vector<std::string> paths);

  // Looks at the files again. Valid until the next call.
  const Grants& Latest();

 private:
  struct Source {
    std::string path;
    std::string state;  // of the file when it was read
    Grants grants;
  };

  std::vector<Source> sources_;
  Grants all_;
  bool is_read_ = false;
};

}  // namespace bulkhead::grants
