// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/memory_limit.h"

#include <sys/types.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/base/pidfd.h"

namespace bulkhead::sandbox {
namespace {

// Returns the rest of the line of /proc/PID/`file` that begins with `key`.
std::istringstream LineOf(int pidfd, const char* file, std::string_view key) {
  std::ifstream lines("/proc/" + std::to_string(PidOf(pidfd)) + "/" + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key))
      return std::istringstream(line.substr(key.size()));
  }
  return std::istringstream();
}

}  // namespace

uint64_t DataBytesOf(int pidfd) {
  uint64_t kibibytes = 0;
  LineOf(pidfd, "status", "VmData:") >> kibibytes;
  return kibibytes * 1024;
}

Status CheckDataLimit(int pidfd, uint64_t bytes) {
  uint64_t soft = UINT64_MAX;
  uint64_t hard = UINT64_MAX;
  // Reading "unlimited" as a number fails, as it should.
  const bool read = static_cast<bool>(
      LineOf(pidfd, "limits", "Max data size") >> soft >> hard);
  // Asked after reading: the pid may belong to another process once this one
  // has ended.
  if (HasEnded(pidfd)) {
    return Status(Code::kBackendLost, "it ended while its limits were checked");
  }
  if (read && soft <= bytes && hard <= bytes) return Status();
  return Status(Code::kSandboxUnavailable,
                "its memory is not limited to " + std::to_string(bytes) +
                    " bytes; it was ended before it saw any media");
}

}  // namespace bulkhead::sandbox
