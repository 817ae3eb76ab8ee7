// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "core/include/bulkhead/status.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// Sends one request to bulkheadd and waits for the reply. Used by libbulkhead
// and by the operators' tools. bulkheadd is trusted, but may die at any time.
// The functions keep no state, so they are as thread-safe as the socket.

// Fills in a request.
using FillRequest = std::function<void(ipc::schema::HostRequest::Builder)>;
// Reads a reply that is not a failure, and its descriptors.
using TakeReply = std::function<Status(ipc::schema::HostReply::Reader,
                                       ipc::ReceivedMessage&)>;

// Sends a request with `fds`, which stay the caller's, and passes the reply to
// `take`. kBackendLost if bulkheadd is gone, kDeadlineExceeded if it is late,
// kResourceExhausted if the request could not be sent for want of a resource. A
// failure that bulkheadd replied with is returned as it is. Sets `*answered` if
// a reply arrived, so that the caller knows which kind of failure it is.
Status Exchange(int socket, const FillRequest& fill, std::span<const int> fds,
                ipc::Deadline deadline, const TakeReply& take,
                bool* answered = nullptr);
// Sends a request without waiting for the reply. Returns kBackendLost or
// kResourceExhausted, as Exchange() does, if the request cannot be sent.
Status SendRequest(int socket, const FillRequest& fill,
                   std::span<const int> fds, ipc::Deadline deadline);
// Waits for the reply to a request that SendRequest() has sent, with the errors
// of Exchange(). A reply that has arrived is taken even after the deadline.
Status AwaitReply(int socket, ipc::Deadline deadline, const TakeReply& take,
                  bool* answered = nullptr);
// Passes a reply to `take`. A reply that was too large for a message is read
// from the memfd that came instead of it.
Status ReadReply(ipc::ReceivedMessage& answer, const TakeReply& take);

// Returns the error for a reply of another kind than the request asks for.
Status UnexpectedReply();
// Accepts the reply `configured`, which carries no data.
Status TakeConfigured(ipc::schema::HostReply::Reader reply,
                      ipc::ReceivedMessage&);

}  // namespace bulkhead
