// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_connections.h"
#include "core/control/control_exchange.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor_link {

// The most bytes of a text in an event that operators see.
inline constexpr size_t kMaxEventTextBytes = 2'000;

// Calls bulkheadd: sends it one request over one connection and waits for the
// answer.
//
// A call ends in one of these ways: bulkheadd answers; bulkheadd dies; the
// deadline passes; the application cancels the call. After each second of
// waiting, the thread sends bulkheadd a heartbeat on another connection
// (SupervisorWatch). So a call to a bulkheadd that hangs ends long before the
// deadline of the call. At its end, each call passes the events that have
// arrived to the observer of the application.
//
// Thread-safe. SupervisorLink owns this object and the objects that the
// constructor gets.
class SupervisorCalls {
 public:
  // The time by which the application waits longer than bulkheadd itself. So
  // if bulkheadd gives up, its answer, which names the cause, still arrives.
  static constexpr std::chrono::milliseconds kSlack{2'000};

  SupervisorCalls(const Deadlines& deadlines,
                  SupervisorConnections& connections)
      : deadlines_(deadlines), connections_(connections) {}

  // Sends one request with the descriptors `fds`, and passes the reply to
  // `take`. Sets `*generation`, unless null, to the generation of the bulkheadd
  // that was asked (SupervisorConnections). Returns kBackendLost if it died,
  // and kCancelled if `cancel`, which may be null, was raised before the reply.
  Status Call(const FillRequest& fill, std::span<const int> fds,
              std::chrono::milliseconds timeout, const TakeReply& take,
              uint64_t* generation = nullptr, CancelSignal* cancel = nullptr);
  // Makes a call that any bulkheadd can answer. If bulkheadd dies, repeats the
  // call once, with its successor.
  Status Ask(const FillRequest& fill, std::chrono::milliseconds timeout,
             const TakeReply& take, CancelSignal* cancel = nullptr);
  // Makes a call and ignores the answer and any failure.
  void Tell(const FillRequest& fill,
            std::chrono::milliseconds timeout = kSlack);

  // Returns how long bulkheadd may take to answer a request for which it may
  // have to start a backend. The time is enough to wait until an installation
  // in progress is done, and to start three things: the backend, the worker
  // that counts its devices, and a session worker (or a new version's trial).
  std::chrono::milliseconds StartPatience() const;
  // Returns how long bulkheadd may take to answer a request for which it starts
  // nothing, such as the list of backends.
  std::chrono::milliseconds ListPatience() const;

 private:
  const Deadlines& deadlines_;
  SupervisorConnections& connections_;
};

}  // namespace bulkhead::supervisor_link
