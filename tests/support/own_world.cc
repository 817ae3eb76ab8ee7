// SPDX-License-Identifier: Apache-2.0
#include "tests/support/own_world.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {
namespace {

bool own_network = false;

bool RaiseLoopback() {
  const ipc::UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

}  // namespace

void EnterOwnWorld() {
  if (::unshare(CLONE_NEWNET) != 0) {
    std::fprintf(stderr,
                 "this test has no network namespace of its own: unshare: %s; "
                 "operators' commands with --all reach its applications\n",
                 std::strerror(errno));
    return;
  }
  own_network = true;
  if (!RaiseLoopback()) std::perror("the loopback interface stays down");
}

bool HasOwnNetwork() { return own_network; }

}  // namespace bulkhead::tests
