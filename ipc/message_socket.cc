// SPDX-License-Identifier: Apache-2.0
#include "ipc/message_socket.h"

#include <capnp/any.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ipc/try.h"

namespace bulkhead::ipc {
namespace {

// The first word of a packet: Cap'n Proto's framing of one segment.
struct SegmentTable {
  uint32_t segments_minus_one;
  uint32_t words;
};
static_assert(sizeof(SegmentTable) == sizeof(capnp::word));

// The room for received descriptors: more than any receiver accepts. So if the
// kernel drops descriptors although fewer came, this process has reached its
// descriptor limit.
constexpr size_t kControlDescriptors = kMaxDescriptors + 2;

// Waits until `socket` has one of `events`, or fails with kDeadlineExceeded.
Expected<void> AwaitReady(int socket, short events, Deadline deadline) {
  pollfd polls[] = {{socket, events, 0}, {deadline.interrupt_fd(), POLLIN, 0}};
  const nfds_t watched = deadline.interrupt_fd() < 0 ? 1 : 2;
  for (;;) {
    const timespec timeout = deadline.remaining_timespec();
    const int ready = ppoll(polls, watched, &timeout, nullptr);
    if (ready > 0 && polls[0].revents != 0) return {};
    // The time is over, or the deadline's descriptor is readable.
    if (ready >= 0) {
      return Fail(Code::kDeadlineExceeded,
                  events == POLLIN
                      ? "no message came on a control socket in time"
                      : "a control socket stayed full: its reader hangs");
    }
    if (errno != EINTR) {
      return FailErrno(Code::kInternal, "cannot wait on a control socket",
                       errno);
    }
  }
}

// Returns whether the peer has closed its end. Needed because recvmsg() also
// returns 0 for a packet of length zero.
bool PeerHasClosed(int socket) {
  pollfd poll = {.fd = socket, .events = POLLRDHUP, .revents = 0};
  const timespec now = {};
  return ppoll(&poll, 1, &now, nullptr) > 0;
}

std::vector<UniqueFd> TakeDescriptors(msghdr& header) {
  std::vector<UniqueFd> descriptors;
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof(fd));
      descriptors.emplace_back(fd);
    }
  }
  return descriptors;
}

tl::unexpected<Error> Misbehaved(std::string what) {
  return Fail(Code::kBackendMisbehaved,
              "the peer of a control socket broke the protocol: " + what);
}

Expected<void> ValidateFraming(kj::ArrayPtr<const capnp::word> packet) {
  if (packet.size() < 2) return Misbehaved("a packet without a message");
  SegmentTable table;
  memcpy(&table, packet.begin(), sizeof(table));
  if (table.segments_minus_one != 0 || table.words != packet.size() - 1) {
    return Misbehaved("a packet that is not one whole segment");
  }
  return {};
}

// Tries to send a packet; sets errno if that fails. A packet without
// descriptors is copied into one piece and goes through send(), since sandboxed
// processes must not call sendmsg().
bool SendOnce(int socket, const msghdr& header) {
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  if (header.msg_controllen > 0) return sendmsg(socket, &header, kFlags) >= 0;
  const std::span parts(header.msg_iov, header.msg_iovlen);
  size_t bytes = 0;
  for (const iovec& part : parts) bytes += part.iov_len;
  // Most messages fit here, so a worker that has run out of memory can still
  // report that.
  std::array<char, 4096> small;
  std::vector<char> large(bytes > small.size() ? bytes : 0);
  char* const packet = large.empty() ? small.data() : large.data();
  char* end = packet;
  for (const iovec& part : parts) {
    end = static_cast<char*>(mempcpy(end, part.iov_base, part.iov_len));
  }
  return send(socket, packet, bytes, kFlags) >= 0;
}

Expected<void> SendPacket(int socket, kj::ArrayPtr<const capnp::word> segment,
                          std::span<const int> descriptors, Deadline deadline) {
  SegmentTable table = {0, static_cast<uint32_t>(segment.size())};
  iovec parts[] = {
      {&table, sizeof(table)},
      {const_cast<capnp::word*>(segment.begin()), segment.asBytes().size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  if (!descriptors.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    if (SendOnce(socket, header)) return {};
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN: {
        IPC_TRY(AwaitReady(socket, POLLOUT, deadline));
        continue;
      }
      case EPIPE:
      case ECONNRESET:
      case ENOTCONN:
        return Fail(Code::kBackendLost,
                    "the peer of a control socket has closed it");
      case ETOOMANYREFS:
        // Other sockets of this user hold too many descriptors that were not
        // received yet. No event reports that there are fewer, so this polls.
        if (!deadline.passed()) {
          constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
          nanosleep(&kPause, nullptr);
          continue;
        }
        return Fail(Code::kResourceExhausted,
                    "cannot send a descriptor: other programs of this user "
                    "have too many in flight through sockets; try again");
      case ENOBUFS:
      case ENOMEM:
        return FailErrno(Code::kResourceExhausted,
                         "cannot send a control message", errno);
      default:
        return FailErrno(Code::kInternal, "cannot send a control message",
                         errno);
    }
  }
}

}  // namespace

ReceivedMessage::ReceivedMessage(kj::Array<capnp::word> words,
                                 std::vector<UniqueFd> received)
    : descriptors(std::move(received)),
      words_(std::move(words)),
      reader_(std::make_unique<capnp::FlatArrayMessageReader>(
          words_.asPtr(), BoundedReaderOptions(words_.size()))) {}

Expected<std::pair<UniqueFd, UniqueFd>> MakeSocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return FailErrno(Code::kResourceExhausted, "cannot make a socket pair",
                     errno);
  }
  return std::make_pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Expected<void> SendMessage(int socket, capnp::MessageBuilder& message,
                           std::span<const int> descriptors,
                           Deadline deadline) {
  if (descriptors.size() > kMaxDescriptors) {
    return Fail(Code::kInvalidArgument, "a control message carries at most " +
                                            std::to_string(kMaxDescriptors) +
                                            " descriptors");
  }
  // This gives an empty message its root pointer.
  auto root = message.getRoot<capnp::AnyPointer>();
  auto segments = message.getSegmentsForOutput();
  const size_t words = message.sizeInWords();
  if ((words + 1) * sizeof(capnp::word) > kMaxMessageBytes) {
    return Fail(
        Code::kResourceExhausted,
        "a control message of " + std::to_string(words * sizeof(capnp::word)) +
            " bytes is above the limit of " + std::to_string(kMaxMessageBytes));
  }
  if (segments.size() == 1) {
    return SendPacket(socket, segments[0], descriptors, deadline);
  }
  // The copy fits in `words` words: a single segment needs no far pointers.
  capnp::MallocMessageBuilder joined(static_cast<unsigned>(words));
  joined.setRoot(root.asReader());
  return SendPacket(socket, joined.getSegmentsForOutput()[0], descriptors,
                    deadline);
}

Expected<std::variant<ReceivedMessage, NoMessage>> TryReceiveMessage(
    int socket, size_t max_descriptors) {
  auto buffer =
      kj::heapArray<capnp::word>(kMaxMessageBytes / sizeof(capnp::word));
  alignas(cmsghdr) char control[CMSG_SPACE(kControlDescriptors * sizeof(int))];
  iovec part = {buffer.begin(), kMaxMessageBytes};
  msghdr header = {};
  ssize_t received;
  do {
    header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == EAGAIN) return NoMessage::kNotYet;
    if (errno == ECONNRESET) return NoMessage::kClosed;
    return FailErrno(
        errno == ENOMEM ? Code::kResourceExhausted : Code::kInternal,
        "cannot receive a control message", errno);
  }
  // Ownership is taken before the first check, so that every error path closes
  // the descriptors.
  std::vector<UniqueFd> descriptors = TakeDescriptors(header);
  if (received == 0 && descriptors.empty() && PeerHasClosed(socket)) {
    return NoMessage::kClosed;
  }
  if (descriptors.size() > max_descriptors) {
    return Misbehaved("more descriptors than the message may have");
  }
  // An empty UniqueFd is a descriptor that could not be moved above the
  // standard descriptors (unique_fd.h).
  if ((header.msg_flags & MSG_CTRUNC) != 0 ||
      std::any_of(descriptors.begin(), descriptors.end(),
                  [](const UniqueFd& fd) { return !fd; })) {
    return Fail(Code::kResourceExhausted,
                "no descriptor is left for what a control message carries: "
                "raise RLIMIT_NOFILE");
  }
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    return Misbehaved("a packet above the size limit");
  }
  if (received % sizeof(capnp::word) != 0) {
    return Misbehaved("a packet that is not made of whole words");
  }
  auto packet = kj::heapArray<capnp::word>(static_cast<size_t>(received) /
                                           sizeof(capnp::word));
  memcpy(packet.asBytes().begin(), buffer.asBytes().begin(),
         packet.asBytes().size());
  IPC_TRY(ValidateFraming(packet));
  return ReceivedMessage(std::move(packet), std::move(descriptors));
}

Expected<std::optional<ReceivedMessage>> ReceiveMessage(int socket,
                                                        size_t max_descriptors,
                                                        Deadline deadline) {
  for (;;) {
    IPC_ASSIGN_OR_RETURN(auto received,
                         TryReceiveMessage(socket, max_descriptors));
    if (auto* message = std::get_if<ReceivedMessage>(&received)) {
      return std::move(*message);
    }
    if (std::get<NoMessage>(received) == NoMessage::kClosed) {
      return std::nullopt;
    }
    IPC_TRY(AwaitReady(socket, POLLIN, deadline));
  }
}

}  // namespace bulkhead::ipc
