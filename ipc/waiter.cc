// SPDX-License-Identifier: Apache-2.0
#include "ipc/waiter.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bulkhead::ipc {
namespace {

// A peer on another core answers within kPauseFor. Yielding until kYieldFor
// lets a peer on this core run, and ends before sleeping would have been
// cheaper.
constexpr auto kPauseFor = std::chrono::microseconds(1);
constexpr auto kYieldFor = std::chrono::microseconds(20);

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Tells a socket by recvmsg, since the worker's seccomp filter refuses fstat.
bool IsSocket(int fd) {
  msghdr nothing = {};
  return recvmsg(fd, &nothing, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
         (errno != ENOTSOCK && errno != EBADF);
}

}  // namespace

Waiter::Waiter(RegionHeader* own, int own_eventfd, int peer_death_fd,
               bool may_spin)
    : own_(own),
      own_eventfd_(own_eventfd),
      peer_death_fd_(peer_death_fd),
      death_fd_is_socket_(IsSocket(peer_death_fd)),
      may_spin_(may_spin) {}

bool Waiter::MoreThanOneCpu() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

bool Waiter::SpinOnce(Instant start) {
  const auto spun = std::chrono::steady_clock::now() - start;
  if (spun >= kYieldFor) return false;
  if (spun < kPauseFor) {
    Pause();
  } else {
    sched_yield();
  }
  return true;
}

Waiter::Event Waiter::Sleep(Deadline deadline, bool* watch_messages) const {
  short death_events = POLLIN;
  if (death_fd_is_socket_) {
    death_events = POLLRDHUP | (*watch_messages ? POLLIN : 0);
  }
  pollfd polls[] = {{own_eventfd_, POLLIN, 0},
                    {peer_death_fd_, death_events, 0},
                    {deadline.interrupt_fd(), POLLIN, 0}};
  // A worker has no such descriptor, and polls for one less.
  const nfds_t watched = deadline.interrupt_fd() < 0 ? 2 : 3;
  const timespec timeout = deadline.remaining_timespec();
  const int count = ppoll(polls, watched, &timeout, nullptr);
  if (count == 0) return Event::kDeadline;
  if (count > 0) {
    if (polls[0].revents != 0) {
      uint64_t wakes;
      // The result does not matter: ready() looks at the cursors anyway.
      [[maybe_unused]] ssize_t got = read(own_eventfd_, &wakes, sizeof(wakes));
    }
    const short death = polls[1].revents;
    if (death != 0 && (!death_fd_is_socket_ || (death & ~POLLIN) != 0)) {
      return Event::kPeerGone;
    }
    // If ready() leaves the message in the socket, polling for it again would
    // return at once, over and over.
    if (death != 0) *watch_messages = false;
  }
  // Checked after every wake-up, so that neither a peer that wakes this side
  // without end nor signals extend the wait beyond the deadline.
  const bool interrupted = count > 0 && polls[2].revents != 0;
  return interrupted || deadline.passed() ? Event::kDeadline
                                          : Event::kLookAgain;
}

void WakePeer(const RegionHeader* peer, int peer_eventfd, WakeReason reason) {
  if ((peer->sleeping.load() & static_cast<uint32_t>(reason)) == 0) return;
  const uint64_t one = 1;
  // The write fails only if the counter is full, and a full counter wakes the
  // peer as well.
  [[maybe_unused]] ssize_t put = write(peer_eventfd, &one, sizeof(one));
}

Expected<UniqueFd> MakeEventFd() {
  UniqueFd fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd) {
    return FailErrno(Code::kResourceExhausted, "cannot make an eventfd", errno);
  }
  return fd;
}

}  // namespace bulkhead::ipc
