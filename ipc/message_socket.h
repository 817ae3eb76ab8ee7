// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/array.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/error.h"
#include "ipc/unique_fd.h"

namespace bulkhead::ipc {

// Control messages: one Cap'n Proto message and up to eight descriptors as one
// packet of a SOCK_SEQPACKET socket. Either all of it arrives or nothing.
//
// A packet is the standard stream framing of a single segment: the word
// {u32 0, u32 words}, then the segment.
//
// Trust: the peer may be hostile. A packet that is not exactly as above, that
// was cut off, or that carries more descriptors than the receiver asked for is
// kBackendMisbehaved, and each descriptor that came with it has been closed.
// What the packet says is only checked as it is read: use ReadCatching.
//
// Threads: sending and receiving on one socket from two threads is safe; two
// receivers would each get some of the packets. The sockets' own O_NONBLOCK
// does not matter, no call here blocks but in ppoll().

inline constexpr size_t kMaxMessageBytes = 64 * 1024;
inline constexpr size_t kMaxDescriptors = 8;

// A message in memory that nobody else can change, and the descriptors that
// came with it. Movable; readers stay valid when it is moved.
class ReceivedMessage {
 public:
  // `words` is a whole packet whose framing has been validated.
  ReceivedMessage(kj::Array<capnp::word> words,
                  std::vector<UniqueFd> descriptors);

  template <typename T>
  Expected<typename T::Reader> root() {
    return ReadCatching([this] { return reader_->getRoot<T>(); });
  }

  // Take what the message's type calls for; the rest closes with it.
  std::vector<UniqueFd> descriptors;

 private:
  kj::Array<capnp::word> words_;
  std::unique_ptr<capnp::FlatArrayMessageReader> reader_;
};

// Two connected ends, close-on-exec.
Expected<std::pair<UniqueFd, UniqueFd>> MakeSocketPair();

// Sends one message; the descriptors stay the caller's. A peer that has closed
// its end is kBackendLost, a buffer that stays full kDeadlineExceeded, a
// message above kMaxMessageBytes kResourceExhausted.
Expected<void> SendMessage(int socket, capnp::MessageBuilder& message,
                           std::span<const int> descriptors, Deadline deadline);

// Waits for one message. nullopt: the peer has closed its end, and everything
// that it sent before has been received.
Expected<std::optional<ReceivedMessage>> ReceiveMessage(int socket,
                                                        size_t max_descriptors,
                                                        Deadline deadline);

enum class NoMessage {
  kNotYet,  // wait until the socket is readable
  kClosed,  // as nullopt above
};

// Receives what is there, for event loops.
Expected<std::variant<ReceivedMessage, NoMessage>> TryReceiveMessage(
    int socket, size_t max_descriptors);

}  // namespace bulkhead::ipc
