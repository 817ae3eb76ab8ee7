// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/session_opening.h"

#include <capnp/message.h>

#include <algorithm>
#include <utility>

#include "core/base/device_name.h"
#include "core/base/pidfd.h"
#include "core/control/exit_messages.h"
#include "core/supervisor/catalog/stream_choice.h"
#include "core/supervisor/open_file_limit.h"
#include "core/supervisor/sockets/replies.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using Reply = schema::HostReply;

// The number of descriptors that come with openSession.
constexpr size_t kSessionDescriptors = 4;
// The most refused positions of the input that sessionStarted lists.
constexpr size_t kMaxPoisoned = 32;

// Adds the worker's device and backend to a failure to attach that does not
// mean the end of the worker. Returns other failures as they are.
Status Explained(const Status& failure,
                 const backend::Backend::StartedSession& started,
                 const std::string& backend) {
  const Code code = failure.code();
  if (code == Code::kBackendLost || code == Code::kBackendMisbehaved ||
      code == Code::kDeadlineExceeded || failure.ok()) {
    return failure;
  }
  if (code == Code::kResourceExhausted && started.shared) {
    return failure.WithContext("the worker of device " + started.device +
                               ", which serves all streams of backend " +
                               backend + ", cannot serve another");
  }
  return failure.WithContext("the worker of device " + started.device +
                             " (backend " + backend + ") was refused");
}

}  // namespace

Result<catalog::BackendPointer> SessionOpening::FindBackend(
    schema::OpenSession::Reader request) {
  const catalog::BackendPointer replaced =
      catalog_.OfSession(request.getContinues());
  if (replaced && replaced->lifecycle().continues_streams()) return replaced;
  return devices_.Find(request.getDevice().cStr());
}

bool SessionOpening::AnswersWithoutWorker(sockets::EventSocket& connection,
                                          schema::OpenSession::Reader request,
                                          backend::Backend& backend) {
  // Refuses the stream here, where the message can name all figures, instead of
  // at the first descriptor that cannot be opened.
  if (!CanOpen(kFilesOfAnOpening)) {
    Fail(connection, TooFewFilesForAStream());
    return true;
  }
  if (const Status able = catalog::CheckDecodes(
          catalog_.Usable(), backend,
          request.getAudio() ? discovery::StreamKind::kAudio
                             : discovery::StreamKind::kVideo);
      !able.ok()) {
    Fail(connection, able);
    return true;
  }
  const auto refused = backend.Refused(request.getInput().cStr());
  // The positions are in ascending order, and the opening of the stream is the
  // first. An input that kills workers at its opening gets no worker.
  if (!refused.empty() && refused[0].position == InputPosition()) {
    capnp::MallocMessageBuilder answer;
    Write(refused[0], answer.initRoot<Reply>().initPoisoned());
    backend.CountRefusal();
    Send(connection, answer);
    return true;
  }
  if (request.getDescribed()) return false;
  const std::string describer =
      catalog::DescriberFor(catalog_.Usable(), backend);
  if (describer.empty()) return false;
  capnp::MallocMessageBuilder answer;
  answer.initRoot<Reply>().setDescribeFirst(describer);
  Send(connection, answer);
  return true;
}

kj::Promise<void> SessionOpening::Open(sockets::EventSocket& connection,
                                       schema::OpenSession::Reader request,
                                       std::vector<ipc::UniqueFd> memory) {
  if (memory.size() != kSessionDescriptors) {
    Fail(connection, Status(Code::kInternal, "a session without its memory"));
    return kj::READY_NOW;
  }
  auto backend = FindBackend(request);
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  if (AnswersWithoutWorker(connection, request, **backend)) {
    return kj::READY_NOW;
  }
  const std::string input = request.getInput().cStr();
  const int newest = memory.back().get();
  Asked asked{
      .input = input,
      .end = request.getEnd(),
      .memory = {
          .descriptors = std::move(memory),
          .access =
              request.getServed()
                  ? worker_protocol::WorkerChannel::MediaAccess::kServed
                  : worker_protocol::WorkerChannel::MediaAccess::kDirect}};
  std::string warning = request.getWarning().cStr();
  if (const std::string near = NearOwnOpenFiles(newest); !near.empty()) {
    warning += (warning.empty() ? "" : "; ") + near;
  }
  const uint64_t session = next_session_++;
  workers_.Open(request.getEnd(), session);
  return (*backend)
      ->OpenSession(session, *ParseDeviceName(request.getDevice().cStr()),
                    request.getAlone(),
                    {.input = input,
                     .path = request.getPath().cStr(),
                     .counter = request.getCounter(),
                     .warning = std::move(warning),
                     .replayed = request.getAlone(),
                     .memory = {.private_bytes = request.getWorkerBytes(),
                                .shared_bytes = request.getSharedBytes()}})
      .then([this, &connection, asked = std::move(asked),
             backend = *backend](auto placed) mutable -> kj::Promise<void> {
        if (!placed) {
          Fail(connection, placed.error());
          return kj::READY_NOW;
        }
        return Attach(connection, std::move(asked), backend, placed->session,
                      std::make_shared<sockets::SessionSocket>(
                          context_.port, std::move(placed->socket)));
      })
      .attach(catalog::BackendPointer(*backend));
}

kj::Promise<void> SessionOpening::Attach(
    sockets::EventSocket& connection, Asked asked,
    const catalog::BackendPointer& backend,
    const backend::Backend::StartedSession& started,
    const std::shared_ptr<sockets::SessionSocket>& socket) {
  const uint64_t id = started.id;
  const Status watched = workers_.Watch(id, asked.end, started.pidfd, socket);
  if (!watched.ok()) {
    backend->CloseSession(id);
    // Other streams that were opened at the same time may have taken the last
    // descriptors.
    Fail(connection, CanOpen(1) ? watched : TooFewFilesForAStream());
    return kj::READY_NOW;
  }
  return socket
      ->Attach(std::move(asked.memory), started.shared,
               context_.worker_deadline,
               [backend, id] { return backend->ConfirmSession(id); })
      .then([backend, started](Status attached) -> kj::Promise<Status> {
        if (attached.code() != Code::kResourceExhausted || !started.shared) {
          return attached;
        }
        // The shared worker lacked something, perhaps threads, which one of its
        // streams may have used up.
        return backend->MakeRoomFor(started.id)
            .then([attached = std::move(attached)](bool freed) mutable {
              return freed ? Status(Code::kBackendLost,
                                    "one of the streams of its worker had all "
                                    "threads, and the worker was ended")
                           : std::move(attached);
            });
      })
      .then([this, &connection, input = std::move(asked.input), end = asked.end,
             backend, started](const Status& attached) {
        AnswerStarted(connection, input, end, *backend, started, attached);
      })
      .attach(std::shared_ptr<sockets::SessionSocket>(socket),
              catalog::BackendPointer(backend));
}

void SessionOpening::AnswerStarted(
    sockets::EventSocket& connection, const std::string& input, uint32_t end,
    backend::Backend& backend, const backend::Backend::StartedSession& started,
    const Status& attached) {
  capnp::MallocMessageBuilder answer;
  auto reply = answer.initRoot<Reply>().initSessionStarted();
  const std::string& name = backend.candidate().name();
  reply.setSession(started.id);
  reply.setBackend(name);
  reply.setDevice(started.device);
  reply.setDeviceOrdinal(started.device_ordinal);
  reply.setTier(static_cast<schema::Tier>(context_.tier));
  reply.setShared(started.shared);
  reply.setWorkerPid(PidOf(started.pidfd));
  if (!attached.ok()) {
    const Status failure = Explained(attached, started, name);
    auto out = reply.initUnattached();
    out.setCode(static_cast<schema::ErrorCode>(failure.code()));
    out.setMessage(failure.message());
  }
  // Asked again, since workers with the same input may have died meanwhile.
  const auto refused = backend.Refused(input);
  auto poisoned = reply.initPoisoned(std::min(refused.size(), kMaxPoisoned));
  for (size_t i = 0; i < poisoned.size(); ++i) Write(refused[i], poisoned[i]);
  // The session is closed if the connection closes before the next request,
  // since then the application may never have read the answer.
  workers_.NoteAnswer(connection, started.id, end);
  Send(connection, answer);
}

}  // namespace bulkhead::supervisor
