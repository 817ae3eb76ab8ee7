// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "core/include/bulkhead/status.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Functions that send a request to bulkheadd and wait for its reply, for
// libbulkhead and the operators' tools. bulkheadd is trusted, but may die at
// any time. The functions keep no state, so they are as thread-safe as the
// socket.

// Fills in a request.
using FillRequest = std::function<void(ipc::schema::HostRequest::Builder)>;
// Reads a reply that reports no failure, and the descriptors that came with it.
using TakeReply = std::function<Status(ipc::schema::HostReply::Reader,
                                       ipc::ReceivedMessage&)>;

// Sends a request with the descriptors `fds`, which stay the caller's, and
// passes the reply to `take`. Returns the failure that the reply reports, if
// any. Without a reply, returns kBackendLost if bulkheadd is gone,
// kDeadlineExceeded if it is late, and kResourceExhausted if a resource for
// sending was lacking. Sets `*answered` to true if a reply has arrived, so that
// the caller can distinguish a failure that bulkheadd reports from a missing
// reply.
Status Exchange(int socket, const FillRequest& fill, std::span<const int> fds,
                ipc::Deadline deadline, const TakeReply& take,
                bool* answered = nullptr);
// Sends a request without waiting for the reply. Returns kBackendLost or
// kResourceExhausted, as Exchange() does, if the request cannot be sent.
Status SendRequest(int socket, const FillRequest& fill,
                   std::span<const int> fds, ipc::Deadline deadline);
// Waits for the reply to a request that SendRequest() has sent. Fails as
// Exchange() does. A reply that has already arrived is taken even after the
// deadline.
Status AwaitReply(int socket, ipc::Deadline deadline, const TakeReply& take,
                  bool* answered = nullptr);
// Passes a reply to `take`. If the reply was too large for a message, reads it
// from the memfd that came in its place.
Status ReadReply(ipc::ReceivedMessage& answer, const TakeReply& take);

// Returns the error for a reply of a kind that does not fit the request.
Status UnexpectedReply();
// Accepts the reply `configured`, which carries no data.
Status TakeConfigured(ipc::schema::HostReply::Reader reply,
                      ipc::ReceivedMessage&);

}  // namespace bulkhead
