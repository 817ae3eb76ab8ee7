// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/libexec_program.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

namespace bulkhead::files {

Result<ipc::UniqueFd> LibexecProgram::Open() const {
  ipc::UniqueFd fd(file ? ::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)
                        : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return fd;
  const int error = errno;
  return Status(
      Code::kNotFound,
      "cannot open " + path + ": " + std::generic_category().message(error) +
          (error == EACCES
               ? "; it is not readable, or a directory above it is "
                 "closed to this user"
               : "; name its directory with libexec_dir (--libexec DIR) or "
                 "BULKHEAD_LIBEXEC_DIR"));
}

}  // namespace bulkhead::files
