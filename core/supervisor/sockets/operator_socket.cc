// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sockets/operator_socket.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "core/control/operator_address.h"

namespace bulkhead::sockets {
namespace {

constexpr int kBacklog = 16;
// The pause before the next attempt if bulkheadd has no descriptor left for a
// connection.
constexpr auto kRetry = 100 * kj::MILLISECONDS;

}  // namespace

Result<ipc::UniqueFd> OperatorSocket::Listen(pid_t application) {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) {
    return Status(Code::kInternal, "cannot name the socket for operators");
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(random));
  sockaddr_un address;
  socklen_t bytes;
  ToAddress(OperatorAddressPrefix(::geteuid()) + std::to_string(application) +
                "/" + digits,
            address, bytes);
  ipc::UniqueFd socket(
      ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), bytes) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return Status(Code::kResourceExhausted,
                  "cannot listen for operators: " +
                      std::generic_category().message(errno));
  }
  return socket;
}

OperatorSocket::OperatorSocket(kj::UnixEventPort& port, ipc::UniqueFd socket,
                               Server server, kj::TaskSet::ErrorHandler& errors)
    : port_(port),
      socket_(std::move(socket)),
      observer_(port, socket_.get(),
                kj::UnixEventPort::FdObserver::OBSERVE_READ),
      server_(std::move(server)),
      tasks_(errors) {
  tasks_.add(Accept());
}

kj::Promise<void> OperatorSocket::Accept() {
  for (int i = 0; i < kBacklog; ++i) {
    ipc::UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (peer) {
      Admit(std::move(peer));
    } else if (errno == EAGAIN) {
      return observer_.whenBecomesReadable().then([this] { return Accept(); });
    } else if (errno != EINTR && errno != ECONNABORTED) {
      return port_.getTimer().afterDelay(kRetry).then(
          [this] { return Accept(); });
    }
  }
  // More peers may wait. Continues through a timer, since kj polls the other
  // descriptors only when no promise is ready.
  return port_.getTimer().afterDelay(0 * kj::SECONDS).then([this] {
    return Accept();
  });
}

void OperatorSocket::Admit(ipc::UniqueFd peer) {
  const auto who = PeerOf(peer.get());
  if (!who || !users_.Believes(who->uid) || peers_ >= kMaxPeers) return;
  ++peers_;
  tasks_.add(server_(std::make_shared<EventSocket>(port_, std::move(peer)))
                 .attach(kj::defer([this] { --peers_; })));
}

}  // namespace bulkhead::sockets
