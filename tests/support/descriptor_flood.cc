// SPDX-License-Identifier: Apache-2.0
#include "tests/support/descriptor_flood.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace bulkhead::tests {
namespace {

constexpr int kEach = 100;
// Above every limit of a worker.
constexpr int kMostMessages = 1 << 20;

int SessionSocket() {
  for (int fd = 3; fd < 64; ++fd) {
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) == 0 && S_ISSOCK(status.st_mode)) {
      return fd;
    }
  }
  return -1;
}

}  // namespace

bool FloodSocketWithDescriptors() {
  alignas(cmsghdr) char space[CMSG_SPACE(kEach * sizeof(int))] = {};
  char byte = 0;
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kEach * sizeof(int));
  std::memset(CMSG_DATA(header), 0, kEach * sizeof(int));
  const int socket = SessionSocket();
  for (int i = 0; i < kMostMessages; ++i) {
    if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return true;
  }
  return false;
}

}  // namespace bulkhead::tests
