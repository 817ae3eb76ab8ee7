// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/include/bulkhead/status.h"

namespace bulkhead::blame {

// The backends that an operator disabled, by name, one file for each in the
// state directory. So a backend stays disabled for a later bulkheadd of the
// same application, and for applications that start later, until it is enabled.
//
// The directory is not trusted (core/base/state_directory.h). The name of a
// file is derived from a backend's name, and the file counts only if its text
// is that backend's name. Bound to the event loop's thread; blocks only as long
// as the file system does.
class DisabledBackends {
 public:
  // `directory` is empty if no records are to be kept.
  explicit DisabledBackends(std::string directory)
      : directory_(std::move(directory)) {}

  // Returns whether the backend is disabled.
  bool Contains(const std::string& backend) const;
  // Disables the backend. Fails, and changes nothing, if the record cannot be
  // written. OK without a directory.
  Status Add(const std::string& backend);
  // Enables the backend. OK if there is no record.
  Status Remove(const std::string& backend);

 private:
  const std::string directory_;
};

}  // namespace bulkhead::blame
