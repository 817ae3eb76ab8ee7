// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/session_worker.h"

#include <capnp/message.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

#include "backends/worker/media/decode/backend_table.h"
#include "backends/worker/session/audio_stream.h"
#include "backends/worker/session/describe.h"
#include "backends/worker/session/video_stream.h"
#include "backends/worker/session/within_memory.h"
#include "ipc/capnp_read.h"
#include "ipc/media_window_layout.h"
#include "ipc/message_socket.h"
#include "ipc/protocol_version.h"
#include "ipc/schema/types.capnp.h"
#include "ipc/try.h"
#include "ipc/worker_exit.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The host receives set-up messages at once. If the host is gone, the socket
// reports that long before this deadline.
constexpr milliseconds kHostDeadline{60'000};
// Only bounds a single wait for a request; the worker then waits again.
constexpr milliseconds kIdleDeadline{3'600'000};
constexpr size_t kMaxBufferBytes = size_t{1} << 30;
constexpr int kExitHostGone = 0;
constexpr int kExitProtocol = 4;

// The descriptors of the session's `attach` message, in their order.
enum Descriptor { kRequests, kReplies, kWindow, kMedia, kWakeHost, kMost };

// A pool and the mapping of its memory. Users hold a shared_ptr to `pool` that
// owns the whole struct, so the memory stays mapped as long as anybody uses it.
struct MappedPool {
  MappedPool(ipc::MappedRegion region, uint32_t slots, size_t slot_bytes)
      : memory(std::move(region)),
        pool(reinterpret_cast<uint8_t*>(memory.writable_bytes().data()), slots,
             slot_bytes) {}

  ipc::MappedRegion memory;
  decode::SlotPool pool;
};

// Receives an `attach` message with `least` to `most` descriptors.
ipc::Expected<ipc::ReceivedMessage> ReceiveAttach(int socket, size_t least,
                                                  size_t most) {
  for (;;) {
    auto received = ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                                        ipc::Deadline::After(kIdleDeadline));
    // A worker that was cloned in advance may wait for its session for hours.
    if (!received && received.error().code == ipc::Code::kDeadlineExceeded) {
      continue;
    }
    if (!received) return tl::unexpected(std::move(received).error());
    if (!*received || (*received)->descriptors.size() < least ||
        (*received)->descriptors.size() > most) {
      return ipc::Fail(ipc::Code::kInternal, "the host is gone");
    }
    return **std::move(received);
  }
}

}  // namespace

ipc::Expected<std::unique_ptr<SessionWorker>> SessionWorker::Attach(
    const bulkhead_backend& backend, int socket) {
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<schema::Hello>();
  hello.setProtocolVersion(ipc::kProtocolVersion);
  IPC_TRY(ipc::SendMessage(socket, message, {},
                           ipc::Deadline::After(kHostDeadline)));
  // The last descriptor, kWakeHost, is optional.
  IPC_ASSIGN_OR_RETURN(auto attach, ReceiveAttach(socket, kWakeHost, kMost));
  IPC_ASSIGN_OR_RETURN(const auto root, attach.root<schema::Attach>());
  IPC_ASSIGN_OR_RETURN(
      auto requests,
      ipc::MappedRegion::Map(attach.descriptors[kRequests].get(), false,
                             ipc::RingGeometry::kRequestRegionBytes));
  IPC_ASSIGN_OR_RETURN(
      auto replies,
      ipc::MappedRegion::Map(attach.descriptors[kReplies].get(), true,
                             ipc::RingGeometry::kReplyRegionBytes));
  std::optional<ipc::MappedRegion> window;
  if (root.isServedSession()) {
    IPC_ASSIGN_OR_RETURN(
        window, ipc::MappedRegion::Map(attach.descriptors[kWindow].get(), false,
                                       ipc::kWindowRegionBytes));
  }
  return std::unique_ptr<SessionWorker>(new SessionWorker(
      backend, socket, std::move(requests), std::move(replies),
      std::move(window), std::move(attach.descriptors)));
}

SessionWorker::SessionWorker(const bulkhead_backend& backend, int socket,
                             ipc::MappedRegion requests,
                             ipc::MappedRegion replies,
                             std::optional<ipc::MappedRegion> window,
                             std::vector<ipc::UniqueFd> descriptors)
    : backend_(backend),
      socket_(socket),
      requests_(std::move(requests)),
      replies_(std::move(replies)),
      descriptors_(std::move(descriptors)),
      own_(ipc::HeaderOf(replies_.writable_bytes())),
      host_(ipc::HeaderOf(requests_.bytes())),
      reader_(requests_.bytes(), own_, ipc::RingGeometry::kRequestRingBytes),
      writer_(replies_.writable_bytes(), host_,
              ipc::RingGeometry::kReplyRingBytes),
      waiter_(own_, host_,
              {{.word = &host_->closed,
                .scope = ipc::WatchedWord::Scope::kWithPeer}}),
      host_replies_(
          writer_, waiter_, own_, host_,
          descriptors_.size() > kWakeHost ? descriptors_[kWakeHost].get() : -1),
      buffers_(
          kMaxBufferBytes,
          [](std::string_view line) {
            // stderr is a non-blocking socket. If it is full, the line is lost,
            // since a log must not delay the stream.
            const std::string whole = std::string(line) + "\n";
            (void)!::write(STDERR_FILENO, whole.data(), whole.size());
          },
          decode::VersionInForce(backend)) {
  if (window) served_.emplace(host_replies_, waiter_, *std::move(window));
  // The mappings stay valid without the descriptors.
  descriptors_[kRequests].reset();
  descriptors_[kReplies].reset();
  descriptors_[kWindow].reset();
}

demux::MediaBytes SessionWorker::media() {
  return served_ ? demux::MediaBytes(*served_)
                 : demux::MediaBytes(descriptors_[kMedia].get());
}

int SessionWorker::Run() {
  for (;;) {
    ipc::Expected<std::optional<ipc::CopiedMessage>> message;
    const auto take = [&] {
      message = reader_.TryRead();
      return !message || message->has_value();
    };
    // If the stream can advance, takes a request if there is one, and else
    // advances. If the stream cannot advance, sleeps until a request comes.
    const bool can_advance = stream_ && stream_->playing() && !starved_;
    if (!can_advance) {
      const auto wake =
          waiter_.Await(take, ipc::Deadline::After(kIdleDeadline));
      if (wake == ipc::Wake::kPeerGone) return kExitHostGone;
    } else {
      take();
    }
    if (!message) return kExitProtocol;
    ipc::Expected<void> done;
    uint32_t epoch = 0;
    if (message->has_value()) {
      // The request may be a grant, so the stream may have a slot again.
      starved_ = false;
      done = ipc::ReadCatching([&] {
        const auto request = (*message)->root<schema::Request>();
        // Reads the epoch first, so that a failure of the request names the
        // play.
        if (request.isPlay()) epoch = request.getPlay().getEpoch();
        return WithinMemory([&] { return Handle(request); });
      });
      if (!done && epoch && stream_) stream_->AbandonPlay();
    } else if (can_advance) {
      // A shared worker is not killed when one of its hosts closes a session,
      // so a long play looks for that itself.
      if (closed()) return kExitHostGone;
      auto advanced = WithinMemory([&] { return stream_->Advance(); });
      if (advanced) {
        starved_ = !*advanced;
      } else {
        epoch = stream_->AbandonPlay();
        done = tl::unexpected(std::move(advanced).error());
      }
    }
    if (done) continue;
    const ipc::Code code = done.error().code;
    if (code == ipc::Code::kBackendLost ||
        code == ipc::Code::kBackendUnavailable) {
      return ReportBackendFailure(done.error());
    }
    if (!host_replies_.SendFailed(epoch, done.error())) return kExitHostGone;
  }
}

// After this report, the host replays the session in a new worker, which may
// get the device again, or in which the backend may not fail. The exit code
// alone would prove nothing, since any library may call exit() with it.
int SessionWorker::ReportBackendFailure(const ipc::Error& failure) {
  const bool lost = failure.code == ipc::Code::kBackendLost;
  capnp::MallocMessageBuilder message;
  auto note = message.initRoot<schema::CrashNote>();
  note.setDeviceLost(lost);
  note.setBackendFailed(!lost);
  // The backend's sentence takes the place of a call stack.
  const std::string& words = failure.message;
  note.setFrameCount(1);
  auto place = note.initFrames(1)[0].initPlace(words.size());
  std::copy(words.begin(), words.end(), place.begin());
  (void)ipc::SendMessage(socket_, message, {},
                         ipc::Deadline::After(kHostDeadline));
  return lost ? ipc::kExitDeviceLost : ipc::kExitBackendFailed;
}

ipc::Expected<void> SessionWorker::Handle(schema::Request::Reader request) {
  if (request.isOpen()) return Open(request.getOpen());
  if (request.isDescribe()) {
    return Describe(host_replies_, media(), request.getDescribe());
  }
  if (!stream_) return ipc::Fail(ipc::Code::kInternal, "nothing is open");
  switch (request.which()) {
    case schema::Request::OPEN:
    case schema::Request::DESCRIBE:
      break;
    case schema::Request::SCAN:
      return stream_->Scan();
    case schema::Request::PLAY:
      return stream_->StartPlay(request.getPlay());
    case schema::Request::GRANT:
      stream_->Grant(request.getGrant().getSlot(),
                     request.getGrant().getGeneration());
      return {};
    case schema::Request::ATTACH_POOL:
      return AttachPool();
  }
  return ipc::Fail(ipc::Code::kInternal, "unknown request");
}

ipc::Expected<void> SessionWorker::Open(schema::Open::Reader open) {
  const StreamContext context = {.backend = backend_,
                                 .buffers = buffers_,
                                 .replies = host_replies_,
                                 .media = media()};
  IPC_ASSIGN_OR_RETURN(stream_, open.getKind() == schema::StreamKind::AUDIO
                                    ? AudioStream::Open(context, open)
                                    : VideoStream::Open(context, open));
  return {};
}

ipc::Expected<void> SessionWorker::AttachPool() {
  IPC_ASSIGN_OR_RETURN(auto attach, ReceiveAttach(socket_, 1, 1));
  IPC_ASSIGN_OR_RETURN(const auto root, attach.root<schema::Attach>());
  const auto pool = root.getFramePool();
  IPC_ASSIGN_OR_RETURN(
      auto memory,
      ipc::MappedRegion::Map(attach.descriptors[0].get(), true,
                             pool.getSlotCount() * pool.getSlotBytes()));
  auto mapped = std::make_shared<MappedPool>(
      std::move(memory), pool.getSlotCount(), pool.getSlotBytes());
  // The stream's pointer refers to the pool and owns the whole MappedPool.
  decode::SlotPool* const slots = &mapped->pool;
  stream_->AttachPool({std::move(mapped), slots});
  return host_replies_.Send(kSmallReplyWords, [](schema::Reply::Builder reply) {
    reply.setPoolAttached();
  });
}

}  // namespace bulkhead::worker::session
