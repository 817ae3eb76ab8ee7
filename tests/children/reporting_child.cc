// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of bulkheadd in tests of its start. Reports over descriptor 3
// what it was started with, as `KEY=VALUE;` in the message of a Failure, and
// exits when the other end is closed.

#include <capnp/message.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "ipc/message_socket.h"
#include "ipc/schema/types.capnp.h"

int main(int argc, char** argv) {
  namespace ipc = bulkhead::ipc;
  constexpr int kControlFd = 3;
  constexpr int kHighestToLookFor = 1024;
  constexpr std::chrono::milliseconds kPatience{60'000};

  std::string report = "descriptors=";
  for (int fd = 0, found = 0; fd < kHighestToLookFor; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) continue;
    report += (found++ ? "," : "") + std::to_string(fd);
  }
  report += ";arguments=";
  for (int i = 0; i < argc; ++i) {
    report += std::string(i ? " " : "") + argv[i];
  }
  report += ";environment=";
  for (char** entry = environ; *entry; ++entry) report += *entry;
  report += ";pid=" + std::to_string(::getpid());
  report +=
      ";session_leader=" + std::to_string(::getsid(0) == ::getpid() ? 1 : 0);
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  report +=
      ";blocked_signals=" + std::to_string(sigisemptyset(&blocked) ? 0 : 1);
  report += ";";

  capnp::MallocMessageBuilder message;
  message.initRoot<ipc::schema::Failure>().setMessage(report);
  if (!ipc::SendMessage(kControlFd, message, {},
                        ipc::Deadline::After(kPatience))) {
    return 1;
  }
  (void)ipc::ReceiveMessage(kControlFd, 0, ipc::Deadline::After(kPatience));
  return 0;
}
