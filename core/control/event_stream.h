// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead {

// The events of one bulkheadd, received on a connection of their own. A request
// for the next events is always open there, so bulkheadd replies as soon as
// there are some.
//
//     EventStream stream(std::move(socket), host_pid);
//     RETURN_IF_ERROR(stream.Ask(0, /*wait=*/true));
//     ... poll stream.fd() ...
//     ASSIGN_OR_RETURN(auto events, stream.TryTake());
//
// Not thread-safe. bulkheadd is trusted, but may die.
class EventStream {
 public:
  EventStream(ipc::UniqueFd socket, int host_pid)
      : socket_(std::move(socket)), host_pid_(host_pid) {}

  // Asks for the events after number `after`. With `wait`, bulkheadd replies
  // when there are some, and TryTake asks for the next ones. Without `wait`, it
  // replies once, with what it has.
  Status Ask(uint64_t after, bool wait);
  // Returns what has arrived, without blocking; empty if nothing has.
  // kBackendLost if bulkheadd is gone.
  Result<std::vector<Event>> TryTake();
  // Waits for the reply to a request without `wait`. kBackendLost if bulkheadd
  // is gone, kDeadlineExceeded if it is late.
  Result<std::vector<Event>> Take(ipc::Deadline deadline);

  // Readable when TryTake would return events or an error.
  int fd() const { return socket_.get(); }
  int host_pid() const { return host_pid_; }

 private:
  Result<std::vector<Event>> Read(ipc::ReceivedMessage& answer);

  ipc::UniqueFd socket_;
  int host_pid_;
};

}  // namespace bulkhead
