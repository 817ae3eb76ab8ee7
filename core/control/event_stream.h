// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

namespace bulkhead {

// The events of one bulkheadd, over a connection of their own, on which a
// question for the next ones is always open.
//
// Not thread-safe. bulkheadd is trusted, but may die.
class EventStream {
 public:
  EventStream(ipc::UniqueFd socket, int host_pid)
      : socket_(std::move(socket)), host_pid_(host_pid) {}

  // What comes after the event of that number. Without `wait` once, at once.
  Status Ask(uint64_t after, bool wait);
  // What has come, without waiting; empty: nothing. kBackendLost: bulkheadd is
  // gone, and nothing more will come.
  Result<std::vector<Event>> TryTake();
  // What comes within the time, of a question that does not wait.
  Result<std::vector<Event>> Take(ipc::Deadline deadline);

  // Readable when there is something to take.
  int fd() const { return socket_.get(); }
  int host_pid() const { return host_pid_; }

 private:
  Result<std::vector<Event>> Read(ipc::ReceivedMessage& answer);

  ipc::UniqueFd socket_;
  int host_pid_;
};

}  // namespace bulkhead
