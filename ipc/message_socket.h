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

// Functions that send and receive control messages. A control message is one
// Cap'n Proto message with up to eight descriptors, sent as one packet over a
// SOCK_SEQPACKET socket. A packet arrives as a whole or not at all.
//
// A packet has the standard stream framing of a single segment: the word
// {u32 0, u32 words}, then the segment.
//
// Trust: the peer may be hostile. Receiving returns kBackendMisbehaved for a
// packet with another framing, a truncated packet, and a packet with more
// descriptors than the receiver accepts; it closes every descriptor that came
// with such a packet. The content of a message is only checked while it is
// read, so read it inside ReadCatching.
//
// Threads: one thread may send and another receive on the same socket. Two
// receiving threads would each get some of the packets. These functions only
// block in ppoll(), whether or not the socket has O_NONBLOCK.

inline constexpr size_t kMaxMessageBytes = 64 * 1024;
inline constexpr size_t kMaxDescriptors = 8;

// Owns a message, in memory that no other process can change, and the
// descriptors that came with the message. Readers of the message stay valid
// when the object is moved.
class ReceivedMessage {
 public:
  // `words` is a complete packet with validated framing.
  ReceivedMessage(kj::Array<capnp::word> words,
                  std::vector<UniqueFd> descriptors);

  // Returns the root of the message. Read it inside ReadCatching.
  template <typename T>
  Expected<typename T::Reader> root() {
    return ReadCatching([this] { return reader_->getRoot<T>(); });
  }

  // The descriptors that came with the message. The caller moves out the
  // descriptors that it needs; this object closes the others.
  std::vector<UniqueFd> descriptors;

 private:
  kj::Array<capnp::word> words_;
  std::unique_ptr<capnp::FlatArrayMessageReader> reader_;
};

// Creates two connected sockets with close-on-exec.
Expected<std::pair<UniqueFd, UniqueFd>> MakeSocketPair();

// Sends one message. The caller keeps the ownership of `descriptors`. Returns
// kBackendLost if the peer has closed its end, kDeadlineExceeded if the socket
// buffer stays full until `deadline`, and kResourceExhausted for a message
// larger than kMaxMessageBytes.
Expected<void> SendMessage(int socket, capnp::MessageBuilder& message,
                           std::span<const int> descriptors, Deadline deadline);

// Waits for one message. Returns nullopt once the peer has closed its end and
// all messages that the peer sent before have been received.
Expected<std::optional<ReceivedMessage>> ReceiveMessage(int socket,
                                                        size_t max_descriptors,
                                                        Deadline deadline);

// The reason why TryReceiveMessage() has no message.
enum class NoMessage {
  kNotYet,  // no message has arrived: wait until the socket is readable
  kClosed,  // the peer has closed its end and everything has been received
};

// Receives one message if one has arrived, without waiting. For event loops.
Expected<std::variant<ReceivedMessage, NoMessage>> TryReceiveMessage(
    int socket, size_t max_descriptors);

}  // namespace bulkhead::ipc
