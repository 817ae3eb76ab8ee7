// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "core/include/bulkhead/status.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {

// One question to bulkheadd, which is trusted but may die, and its answer.

using FillRequest = std::function<void(ipc::schema::HostRequest::Builder)>;
using TakeReply = std::function<Status(ipc::schema::HostReply::Reader,
                                       ipc::ReceivedMessage&)>;

// kBackendLost: bulkheadd is gone. A failure that it answered is returned as it
// is, and `answered` set.
Status Exchange(int socket, const FillRequest& fill, std::span<const int> fds,
                ipc::Deadline deadline, const TakeReply& take,
                bool* answered = nullptr);
// The first half of it alone.
Status SendRequest(int socket, const FillRequest& fill,
                   std::span<const int> fds, ipc::Deadline deadline);
// What an answer says, also one that is elsewhere.
Status ReadReply(ipc::ReceivedMessage& answer, const TakeReply& take);

// An answer of another kind than was asked for.
Status UnexpectedReply();
// Takes nothing but `configured`.
Status TakeConfigured(ipc::schema::HostReply::Reader reply,
                      ipc::ReceivedMessage&);

}  // namespace bulkhead
