// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/application/supervisor_link/end_board.h"
#include "core/application/supervisor_link/event_delivery.h"
#include "core/application/supervisor_link/fork_mark.h"
#include "core/application/supervisor_link/interruptible_turn.h"
#include "core/application/supervisor_link/session_counting.h"
#include "core/application/supervisor_link/supervisor_process.h"
#include "core/application/supervisor_link/supervisor_settings.h"
#include "core/application/supervisor_link/supervisor_watch.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// Starts bulkheadd, keeps the connections to it, and starts another bulkheadd
// when the present one is found dead or hanging. Each bulkheadd has a number,
// its generation; the first one has 1.
//
// A call takes a connection with Acquire(), sends one request, reads the answer
// and hands the connection back with Return(). A thread that finds no idle
// connection opens another. So a call that waits for a slow start of a backend
// does not delay other calls. At most one idle connection is kept.
//
// Failure: bulkheadd is trusted, but may die or be stopped at any point. A call
// that notices the death reports it with Lost(). The next Acquire() then starts
// the successor. In a forked child, Acquire() returns an error.
//
// Thread-safe. Only one thread at a time starts bulkheadd or opens a
// connection; waiting for this turn can be interrupted. Owned by
// SupervisorLink, which owns `settings` too.
class SupervisorConnections {
 public:
  // One connection, and the bulkheadd at its other end.
  struct Connection {
    ipc::UniqueFd socket;
    uint64_t generation = 0;
    std::shared_ptr<SupervisorWatch> watch;
  };

  SupervisorConnections(const SupervisorSettings& settings,
                        std::shared_ptr<SessionCounting> counting,
                        InterruptibleTurn turn);
  // Ends bulkheadd by closing the sockets to it. If the application has to reap
  // bulkheadd (ReapIfChild()), waits for its end, at most for Deadlines::close.
  // In a forked child, closes only copies of the sockets, so bulkheadd lives
  // on.
  ~SupervisorConnections();
  SupervisorConnections(const SupervisorConnections&) = delete;
  SupervisorConnections& operator=(const SupervisorConnections&) = delete;

  // Starts the first bulkheadd. Call it once, before all other functions.
  Status Start();
  // Takes an idle connection or opens one. If bulkheadd is dead, starts a
  // successor first. If bulkheadd hangs, and `timeout` is long enough to find
  // that out, replaces it too. Returns kDeadlineExceeded if `interrupt_fd` (-1:
  // none) becomes readable.
  Result<Connection> Acquire(std::chrono::milliseconds timeout,
                             int interrupt_fd);
  // Hands back a connection after the answer to its latest request has been
  // read.
  void Return(Connection connection);
  // Records that the bulkheadd `generation` is dead. Returns `loss`, or
  // kResourceExhausted if low limits of this process explain the death.
  Status Lost(uint64_t generation, Status loss);

  // Returns whether bulkheadd is alive, as far as is known.
  bool alive() const;
  // Returns whether the bulkheadd `generation` is the present one, and alive as
  // far as is known. Returns false in a forked child.
  bool Serves(uint64_t generation) const;
  // Takes a place on the EndBoard of the bulkheadd `generation`, for one
  // session. The place is empty if that bulkheadd was replaced, or if all
  // places are taken.
  EndBoard::Place TakeEnd(uint64_t generation) const;
  // Registers `load` with each bulkheadd that is started from now on.
  void RememberLoad(const ExplicitLoad& load);
  // Passes the events that have arrived to the observer of the application.
  void DeliverEvents() { events_.Deliver(); }
  // Returns the pid of bulkheadd; 0 in a forked child.
  pid_t pid() const;
  // Returns the mark of the process that owns the connections.
  const ForkMark& process() const { return fork_mark_; }

 private:
  // The functions with InTurn in their names are called with turn_ held and
  // without mutex_. They return kDeadlineExceeded if `interrupt_fd` (-1: none)
  // becomes readable.

  // Starts and configures a bulkheadd, and makes it the present one.
  Status StartInTurn(int interrupt_fd);
  Status ConfigureInTurn(int interrupt_fd);
  // Opens a connection to the present bulkheadd and returns its socket.
  Result<ipc::UniqueFd> ConnectInTurn(std::chrono::milliseconds timeout,
                                      int interrupt_fd);
  std::optional<Connection> TakeIdle();
  // Counts one more death of a bulkheadd (futile_starts_). Returns the same as
  // Lost(). Called with mutex_ held.
  Status ExplainLossLocked(Status loss);

  const SupervisorSettings& settings_;
  const ForkMark fork_mark_;
  const std::shared_ptr<SessionCounting> counting_;

  // Held during a start of bulkheadd or the opening of a connection, which may
  // take long. Taken before mutex_.
  const InterruptibleTurn turn_;
  // Protected by turn_.
  std::shared_ptr<SupervisorWatch> watch_;
  // Changed under both turn_ and mutex_, so either is enough for reading.
  std::shared_ptr<EndBoard> ends_;

  // Held for moments only.
  mutable std::mutex mutex_;
  // Changed under both turn_ and mutex_, so either is enough for reading.
  SupervisorProcess process_;
  // Protected by mutex_.
  uint64_t generation_ = 0;  // the number of the present bulkheadd
  bool alive_ = false;
  // The number of bulkheadds in a row that died before they answered a call.
  // Return() sets it to 0.
  int futile_starts_ = 0;
  std::vector<Connection> idle_;
  std::vector<ExplicitLoad> loads_;

  EventDelivery events_;
};

}  // namespace bulkhead::supervisor_link
