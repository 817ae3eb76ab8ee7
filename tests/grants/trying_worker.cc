// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of bulkhead-worker: a zygote that installs stage 1. For each
// packet "VERB PATH" on the control socket, it tries to open the file and
// answers with the errno, or 0 for success.
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "backends/worker/lockdown/lockdown.h"
#include "ipc/descriptors.h"

namespace {

int Try(const std::string& verb, const char* path) {
  char byte = 0;
  const int fd = open(path, verb == "read" ? O_RDONLY : O_RDWR);
  if (fd < 0) return errno;
  const bool done =
      read(fd, &byte, 1) == 1 && (verb == "read" || write(fd, &byte, 1) == 1);
  const int error = errno;
  close(fd);
  return done ? 0 : error;
}

}  // namespace

int main() {
  namespace ipc = bulkhead::ipc;
  const auto lockdown =
      bulkhead::worker::lockdown::Lockdown::Read(ipc::kZygoteLockdownFd);
  if (!lockdown ||
      !lockdown->InstallStage1(ipc::kZygoteControlFd, ipc::kZygotePluginFd)) {
    return 1;
  }
  std::array<char, 256> packet;
  for (;;) {
    const ssize_t bytes =
        read(ipc::kZygoteControlFd, packet.data(), packet.size());
    if (bytes <= 0) return 0;
    const std::string text(packet.data(), static_cast<size_t>(bytes));
    const size_t blank = text.find(' ');
    const std::string answer = std::to_string(
        Try(text.substr(0, blank), text.substr(blank + 1).c_str()));
    send(ipc::kZygoteControlFd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
}
