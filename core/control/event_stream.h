// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead {

// Receives the events of one bulkheadd, on a connection of its own. After Ask()
// with `wait`, a request is always pending at bulkheadd, so events arrive as
// soon as there are some.
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

  // Asks for the events after the number `after`. With `wait`, bulkheadd
  // replies as soon as there are some, and TryTake() then asks for the next
  // ones. Without `wait`, bulkheadd replies once, with the events that it has.
  Status Ask(uint64_t after, bool wait);
  // Returns the events that have arrived, without blocking; none if no reply
  // has arrived. Returns kBackendLost if bulkheadd is gone.
  Result<std::vector<Event>> TryTake();
  // Waits for the reply to a request without `wait`. Returns kBackendLost if
  // bulkheadd is gone, and kDeadlineExceeded if it is late.
  Result<std::vector<Event>> Take(ipc::Deadline deadline);

  // Returns a descriptor that is readable when TryTake() would return events or
  // an error.
  int fd() const { return socket_.get(); }
  int host_pid() const { return host_pid_; }

 private:
  Result<std::vector<Event>> Read(ipc::ReceivedMessage& answer);

  ipc::UniqueFd socket_;
  int host_pid_;
};

}  // namespace bulkhead
