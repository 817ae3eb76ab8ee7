// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/interruptible_turn.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace bulkhead::supervisor_link {

InterruptibleTurn::Held::~Held() {
  const uint64_t turn = 1;
  if (event_ >= 0) (void)!::write(event_, &turn, sizeof(turn));
}

Result<InterruptibleTurn> InterruptibleTurn::Create() {
  ipc::UniqueFd event(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) {
    return Status(
        Code::kResourceExhausted,
        "cannot make an eventfd: " + std::generic_category().message(errno));
  }
  return InterruptibleTurn(std::move(event));
}

std::optional<InterruptibleTurn::Held> InterruptibleTurn::Take(
    int interrupt_fd) const {
  // The read takes the turn: it sets the eventfd from 1 to 0. It fails (EAGAIN)
  // while another thread has the turn.
  uint64_t turn = 0;
  while (::read(event_.get(), &turn, sizeof(turn)) < 0) {
    pollfd waiting[] = {{.fd = event_.get(), .events = POLLIN, .revents = 0},
                        {.fd = interrupt_fd, .events = POLLIN, .revents = 0}};
    (void)::poll(waiting, 2, -1);
    if (waiting[1].revents != 0) return std::nullopt;
  }
  return Held(event_.get());
}

bool IsInterrupted(int interrupt_fd) {
  pollfd raised = {.fd = interrupt_fd, .events = POLLIN, .revents = 0};
  return ::poll(&raised, 1, 0) > 0;
}

}  // namespace bulkhead::supervisor_link
