// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bulkhead::tests {

KernelLog::KernelLog()
    : fd_(open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  char record[8192];
  readable_ = read(fd_.get(), record, sizeof(record)) >= 0;
  lseek(fd_.get(), 0, SEEK_END);
}

std::string KernelLog::About(pid_t pid) {
  std::string found;
  char record[8192];
  // A record that was overwritten meanwhile is EPIPE.
  for (ssize_t size = 0; (size = read(fd_.get(), record, sizeof(record))) > 0 ||
                         errno == EPIPE;) {
    const std::string text(record,
                           static_cast<size_t>(std::max(size, ssize_t{0})));
    const std::string number = std::to_string(pid);
    if (text.find("[" + number + "]") != std::string::npos ||
        text.find(" pid=" + number + " ") != std::string::npos) {
      found += text;
    }
  }
  return found;
}

}  // namespace bulkhead::tests
