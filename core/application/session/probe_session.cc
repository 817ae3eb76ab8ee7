// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/probe_session.h"

#include <string>
#include <utility>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/allowed_media.h"
#include "core/worker_protocol/description_validation.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {

namespace schema = ipc::schema;

Result<ContainerMetadata> ProbeSession::Run(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const Source& source, const ProbeOptions& options, const Limits& limits) {
  ASSIGN_OR_RETURN(worker_link::MediaInput input,
                   worker_link::MediaInput::Open(source));
  auto cancel = supervisor_link::CancelSignal::Of(options.cancellation);
  return Run(std::move(supervisor), std::move(input), options, limits,
             std::move(cancel));
}

Result<ContainerMetadata> ProbeSession::Run(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    worker_link::MediaInput input, const ProbeOptions& options,
    const Limits& limits,
    std::shared_ptr<supervisor_link::CancelSignal> cancel) {
  ProbeSession session(std::move(supervisor), std::move(input), options, limits,
                       std::move(cancel));
  RETURN_IF_ERROR(session.recovery_.Open());
  if (options.scan) {
    RETURN_IF_ERROR(
        session.recovery_.Run(WorkerRecovery::Step::kScan, [&]() -> Status {
          return session.Describe(session.recovery_.link(), true);
        }));
  }
  return std::move(session.container_);
}

ProbeSession::ProbeSession(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    worker_link::MediaInput input, const ProbeOptions& options,
    const Limits& limits, std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : input_(std::move(input)),
      limits_(limits),
      allowed_(options.allowed),
      recovery_(std::move(supervisor), input_,
                {.device = {.device = options.device,
                            .input_key = supervisor_link::DescriptionKey(
                                input_.identity()),
                            .request = {},
                            .vetting = {}},
                 .elsewhere = {},
                 .observer = {},
                 .limits = limits,
                 .cancel = std::move(cancel)},
                *this) {}

Result<bool> ProbeSession::OpenOn(worker_link::WorkerLink& link,
                                  uint32_t /*incarnation*/) {
  RETURN_IF_ERROR(Describe(link, false));
  return true;
}

void ProbeSession::WorkerLost(bool /*kept*/) {}

Status ProbeSession::Describe(worker_link::WorkerLink& link, bool scan) {
  link.SetLastRequest(scan ? "describe after a scan" : "describe");
  const std::string name_hint = input_.name_hint();
  RETURN_IF_ERROR(link.Send(
      worker_protocol::kSmallRequestWords + name_hint.size() / 8 +
          worker_protocol::AllowedWords(allowed_),
      [&](schema::Request::Builder request) {
        auto describe = request.initDescribe();
        describe.setNameHint(name_hint);
        describe.setMediaBytes(input_.bytes());
        describe.setScan(scan);
        describe.setMaxStreams(limits_.streams);
        worker_protocol::WriteAllowed(allowed_, describe.initAllowed());
      }));
  container_known_ = false;
  const auto step = scan ? &Deadlines::scan : &Deadlines::open;
  worker_protocol::StepDeadline deadline = link.Within(step);
  packets_scanned_ = 0;
  while (!container_known_ || container_.streams.size() < stream_count_) {
    RETURN_IF_ERROR(link.Receive(
        deadline, scan ? "scan the file" : "open the file",
        [&](schema::Reply::Reader reply_untrusted) -> Status {
          if (reply_untrusted.isFailed()) {
            return link.FailureOf(reply_untrusted.getFailed());
          }
          if (!reply_untrusted.isDescribed()) {
            return link.Misbehaved("it answered describe with something else");
          }
          const auto described_untrusted = reply_untrusted.getDescribed();
          if (!described_untrusted.isScanned()) {
            return TakeIfValid(link, described_untrusted);
          }
          if (!scan) return link.Misbehaved("it scanned what nobody asked for");
          RETURN_IF_ERROR(CheckScanned(link, described_untrusted.getScanned()));
          link.Renew(deadline, step);
          return Status();
        }));
  }
  return Status();
}

Status ProbeSession::CheckScanned(worker_link::WorkerLink& link,
                                  uint64_t packets_untrusted) {
  packets_scanned_ += schema::PACKETS_PER_REPORT;
  if (container_known_ || packets_untrusted != packets_scanned_) {
    return link.Misbehaved("it says that it read further, and did not");
  }
  if (packets_scanned_ <= limits_.index_frames) return Status();
  return Status(Code::kResourceExhausted,
                "the file has more than " +
                    std::to_string(limits_.index_frames) + " packets; raise " +
                    ipc::LimitName("index_frames"));
}

Status ProbeSession::TakeIfValid(
    worker_link::WorkerLink& link,
    schema::Described::Reader described_untrusted) {
  switch (described_untrusted.which()) {
    case schema::Described::SCANNED:
      return link.Misbehaved("it scanned out of turn");
    case schema::Described::CONTAINER: {
      if (container_known_) {
        return link.Misbehaved("it described the container twice");
      }
      auto claimed = worker_protocol::ValidateContainer(
          described_untrusted.getContainer(), limits_.streams);
      if (!claimed) return link.Misbehaved(claimed.error().message());
      const Status allowed =
          worker_protocol::CheckContainer(allowed_, claimed->container.format);
      if (!allowed.ok()) return link.Misbehaved(allowed.message());
      container_ = std::move(claimed->container);
      stream_count_ = claimed->stream_count;
      container_known_ = true;
      break;
    }
    case schema::Described::STREAM: {
      if (!container_known_) {
        return link.Misbehaved("it reported a stream of nothing");
      }
      auto stream = worker_protocol::ValidateStream(
          described_untrusted.getStream(), container_);
      if (!stream) return link.Misbehaved(stream.error().message());
      container_.streams.push_back(*std::move(stream));
      break;
    }
  }
  return Status();
}

}  // namespace bulkhead::session
