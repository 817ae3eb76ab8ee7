// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>

#include <algorithm>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/device_name.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/capability_messages.h"
#include "core/control/crash_note.h"
#include "core/control/exit_messages.h"
#include "core/supervisor/own_files.h"
#include "core/supervisor/sockets/replies.h"
#include "core/supervisor/supervisor.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"

// What a Supervisor does for an application's devices and sessions.
namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// How long an application that saw its worker end waits for the reason.
constexpr milliseconds kExitPatience{2'000};
// The descriptors of openSession.
constexpr size_t kSessionDescriptors = 4;

// `stopped` says whether the worker was stopped when it was killed.
Backend::ReportedExit ToReportedExit(schema::SessionEnd::Reader end,
                                     bool stopped) {
  using Seen = schema::SessionEnd::Seen;
  HostObservation observed = HostObservation::kDied;
  if (end.getSeen() == Seen::LATE) {
    observed = stopped ? HostObservation::kFoundStopped
                       : HostObservation::kMissedDeadline;
  }
  if (end.getSeen() == Seen::LIED) observed = HostObservation::kBrokeProtocol;
  return {.id = end.getSession(),
          .observed = observed,
          .met_media = end.getMetMedia(),
          .position = ToPosition(end.getPosition()),
          .facts = ToSessionFacts(end)};
}

}  // namespace

Result<Catalog::BackendPointer> Supervisor::FindBackend(
    const std::string& device) {
  ASSIGN_OR_RETURN(const discovery::DeviceName name,
                   discovery::ParseDeviceName(device));
  const auto found = catalog_->Find(name);
  // Without files to open nothing is found, and nothing can be started.
  if (!found || !(*found)->lifecycle().serving()) {
    RETURN_IF_ERROR(CheckSpareFiles());
  }
  if (!found) return found.error();
  const Catalog::BackendPointer& backend = *found;
  RETURN_IF_ERROR(EnsureTier());
  return backend;
}

kj::Promise<void> Supervisor::Prepare(EventSocket& connection,
                                      const std::string& device) {
  auto backend = FindBackend(device);
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  return (*backend)
      ->Prepare(*discovery::ParseDeviceName(device))
      .then([&connection](Status status) { Acknowledge(connection, status); })
      .attach(Catalog::BackendPointer(*backend));
}

kj::Promise<void> Supervisor::Load(EventSocket& connection,
                                   const std::string& path,
                                   const std::string& entry_point) {
  return catalog_->Load(path, entry_point)
      .then([this, &connection](auto backends) -> kj::Promise<void> {
        const Status tier = backends ? EnsureTier() : backends.error();
        if (tier.ok()) return StartLoaded(connection, *std::move(backends));
        Fail(connection, tier);
        return kj::READY_NOW;
      });
}

kj::Promise<void> Supervisor::StartLoaded(
    EventSocket& connection, std::vector<Catalog::BackendPointer> backends) {
  auto starts = kj::heapArrayBuilder<kj::Promise<Status>>(backends.size());
  for (const Catalog::BackendPointer& backend : backends) {
    starts.add(backend->lifecycle().EnsureReady());
  }
  return kj::joinPromises(starts.finish())
      .then([&connection,
             backends = std::move(backends)](kj::Array<Status> statuses) {
        for (const Status& status : statuses) {
          if (!status.ok()) return Fail(connection, status);
        }
        size_t count = 0;
        for (const auto& backend : backends) count += backend->devices().size();
        capnp::MallocMessageBuilder answer;
        auto loaded = answer.initRoot<Reply>().initLoaded(count);
        for (const auto& backend : backends) {
          for (const auto& device : backend->devices()) {
            auto entry = loaded[loaded.size() - count--];
            entry.setName(device.name);
            entry.setDescription(device.description);
            entry.setBackend(backend->candidate().name());
            Write(device.capabilities, entry.initCapabilities());
          }
        }
        Send(connection, answer);
      });
}

kj::Promise<void> Supervisor::OpenSession(EventSocket& connection,
                                          schema::OpenSession::Reader request,
                                          std::vector<ipc::UniqueFd> memory) {
  if (memory.size() != kSessionDescriptors) {
    Fail(connection, Status(Code::kInternal, "a session without its memory"));
    return kj::READY_NOW;
  }
  const Catalog::BackendPointer replaced =
      catalog_->OfSession(request.getContinues());
  auto backend = replaced && replaced->lifecycle().continues_streams()
                     ? Result<Catalog::BackendPointer>(replaced)
                     : FindBackend(request.getDevice().cStr());
  if (!backend) {
    Fail(connection, backend.error());
    return kj::READY_NOW;
  }
  // Refuses the stream here, where all figures are known, and not where the
  // first descriptor is missing.
  if (!CanOpen(kFilesOfAnOpening)) {
    Fail(connection, TooFewFilesForAStream());
    return kj::READY_NOW;
  }
  if (const Status able = catalog_->CheckDecodes(
          **backend, request.getAudio() ? discovery::StreamKind::kAudio
                                        : discovery::StreamKind::kVideo);
      !able.ok()) {
    Fail(connection, able);
    return kj::READY_NOW;
  }
  const std::string input = request.getInput().cStr();
  const auto refused = (*backend)->Refused(input);
  // The positions are in ascending order, and opening is the first. Refusing
  // here costs no worker.
  if (!refused.empty() && refused[0].position == InputPosition()) {
    capnp::MallocMessageBuilder answer;
    Write(refused[0], answer.initRoot<Reply>().initPoisoned());
    (*backend)->CountRefusal();
    Send(connection, answer);
    return kj::READY_NOW;
  }
  const std::string describer =
      request.getDescribed() ? "" : catalog_->DescriberFor(**backend);
  if (!describer.empty()) {
    capnp::MallocMessageBuilder answer;
    answer.initRoot<Reply>().setDescribeFirst(describer);
    Send(connection, answer);
    return kj::READY_NOW;
  }
  const int newest = memory.back().get();
  AskedSession asked{
      .input = input,
      .end = request.getEnd(),
      .memory = {.descriptors = std::move(memory),
                 .access = request.getServed()
                               ? session::WorkerChannel::MediaAccess::kServed
                               : session::WorkerChannel::MediaAccess::kDirect}};
  std::string warning = request.getWarning().cStr();
  if (const std::string near = NearOwnOpenFiles(newest); !near.empty()) {
    warning += (warning.empty() ? "" : "; ") + near;
  }
  const uint64_t session = next_session_++;
  ends_.Open(request.getEnd(), session);
  return (*backend)
      ->OpenSession(session,
                    *discovery::ParseDeviceName(request.getDevice().cStr()),
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
        return Attach(
            connection, std::move(asked), backend, placed->session,
            std::make_shared<SessionSocket>(port_, std::move(placed->socket)));
      })
      .attach(Catalog::BackendPointer(*backend));
}

void Supervisor::StartShadow(schema::Shadow::Reader request,
                             ipc::UniqueFd media,
                             std::vector<ipc::UniqueFd> descriptors) {
  const uint64_t session = request.getSession();
  const Catalog::BackendPointer origin = catalog_->OfSession(session);
  // The session was closed meanwhile, or its bulkheadd was replaced.
  if (!origin) return;
  std::string device;
  for (const Backend::OpenedSession& opened : origin->sessions()) {
    if (opened.id == session) device = opened.device;
  }
  // The first descriptor is `media`, unless the stream is left out.
  ipc::UniqueFd frames;
  if (request.hasLeftOut() && request.getLeftOut().size() > 0) {
    frames = std::move(media);
  } else if (descriptors.size() > 1) {
    frames = std::move(descriptors[1]);
  }
  shadows_->Start({.session = session,
                   .device = std::move(device),
                   .path = request.getPath().cStr(),
                   .origin = origin,
                   .backend = FindBackend(request.getAgainst().cStr())},
                  request, std::move(media), std::move(frames));
}

kj::Promise<void> Supervisor::AnswerExit(EventSocket& connection,
                                         schema::SessionEnd::Reader seen) {
  const Catalog::BackendPointer backend =
      catalog_->OfSession(seen.getSession());
  const auto socket = sockets_.find(seen.getSession());
  const bool known = socket != sockets_.end();
  Backend::ReportedExit reported =
      ToReportedExit(seen, known && socket->second->found_stopped());
  if (known) reported.facts.claim = socket->second->TakeNote();
  auto verdict = backend
                     ? backend->JudgeExit(reported, kExitPatience)
                     : kj::Promise<Backend::JudgedExit>(Backend::JudgedExit());
  return verdict
      .then([&connection,
             claim = reported.facts.claim](const Backend::JudgedExit& verdict) {
        capnp::MallocMessageBuilder answer;
        auto reply = answer.initRoot<Reply>().initExit();
        Write(claim, reply.initClaim());
        Write(verdict.report, reply.initReport());
        reply.setBlamed(verdict.culprit != Culprit::kNobody);
        reply.setInputToBlame(verdict.culprit == Culprit::kInput);
        reply.setDeviceToBlame(verdict.culprit == Culprit::kDevice);
        reply.setDeathsHere(verdict.deaths_here);
        reply.setLackedTasks(verdict.lacked_tasks);
        Send(connection, answer);
      })
      .attach(Catalog::BackendPointer(backend));
}

void Supervisor::NoteFailover(schema::FailedOver::Reader failed) {
  const std::string device = failed.getDevice().cStr();
  const auto name = discovery::ParseDeviceName(device);
  const Catalog::BackendPointer backend =
      name ? catalog_->Find(*name).value_or(nullptr) : nullptr;
  const bool both = failed.getFailed();
  if (backend) {
    both ? backend->CountFailedFailover() : backend->CountFailover();
  }
  events_.Add(
      {.kind = both ? Event::Kind::kFailoverFailed : Event::Kind::kFailover,
       .backend = backend ? backend->candidate().name() : "",
       .session = failed.getSession(),
       .device = device,
       .text = failed.getText().cStr()});
}

}  // namespace bulkhead::supervisor
