// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/application_requests.h"

#include <capnp/message.h>

#include <string>
#include <utility>

#include "core/base/device_name.h"
#include "core/control/exit_messages.h"
#include "core/control/text_list.h"
#include "core/supervisor/catalog/backend_descriptions.h"
#include "core/supervisor/sockets/replies.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using Reply = schema::HostReply;

std::vector<discovery::SearchDirectory> PluginPathOf(
    schema::Configuration::Reader configuration) {
  std::vector<discovery::SearchDirectory> path;
  for (const auto directory : configuration.getPluginPath()) {
    path.push_back({directory.getPath().cStr(), directory.getOrigin().cStr(),
                    directory.getBuiltIn()});
  }
  return path;
}

discovery::Selection SelectionOf(schema::Configuration::Reader configuration) {
  return {.autoload = configuration.getAutoload(),
          .enabled = ToStrings(configuration.getEnabled()),
          .disabled = ToStrings(configuration.getDisabled()),
          .exec = ToStrings(configuration.getExec()),
          .autoload_rule = configuration.getAutoloadRule().cStr(),
          .enabled_rule = configuration.getEnabledRule().cStr(),
          .disabled_rule = configuration.getDisabledRule().cStr(),
          .exec_rule = configuration.getExecRule().cStr()};
}

sandbox::Requirements RequirementsOf(
    schema::Configuration::Reader configuration) {
  return {.floor = static_cast<sandbox::Tier>(configuration.getFloor()),
          .memory_cgroup = configuration.getRequireMemoryCgroup()};
}

}  // namespace

ApplicationRequests::ApplicationRequests(
    kj::UnixEventPort& port, Operators::Application application,
    schema::Configuration::Reader configuration, int application_pidfd,
    backend::StartServices::Programs programs, kj::TaskSet& tasks)
    : services_(port, application.pid, configuration, application_pidfd,
                std::move(programs), health_),
      sandbox_(services_.context(), RequirementsOf(configuration),
               configuration.getCgroup().cStr()),
      catalog_(PluginPathOf(configuration), SelectionOf(configuration),
               services_.context()),
      shadows_(services_.context()),
      devices_(catalog_, sandbox_, tasks),
      workers_(services_, catalog_),
      opening_(services_.context(), catalog_, devices_, workers_),
      operators_(application, services_.context(), catalog_, shadows_) {}

kj::Promise<void> ApplicationRequests::Answer(sockets::EventSocket& connection,
                                              ipc::ReceivedMessage message) {
  return AskPlacesFor(*message.root<Request>())
      .then([this, &connection, message = std::move(message)]() mutable {
        return AnswerAtOnce(connection, std::move(message));
      });
}

kj::Promise<void> ApplicationRequests::AskPlacesFor(Request::Reader request) {
  const auto ask = [this](const std::string& device) -> kj::Promise<void> {
    const auto name = ParseDeviceName(device);
    // For an invalid name, no directory is searched.
    if (!name) return kj::READY_NOW;
    return catalog_.AskPlaces(*name);
  };
  switch (request.which()) {
    case Request::OPEN_SESSION:
      return ask(request.getOpenSession().getDevice().cStr());
    case Request::PREPARE:
      return ask(request.getPrepare().cStr());
    case Request::FIND_DEVICE:
      return ask(request.getFindDevice().cStr());
    case Request::SHADOW:
      return ask(request.getShadow().getAgainst().cStr());
    case Request::FAILED_OVER:
      return ask(request.getFailedOver().getDevice().cStr());
    case Request::LIST_BACKENDS:
      return catalog_.AskPlaces();
    default:
      return kj::READY_NOW;
  }
}

kj::Promise<void> ApplicationRequests::AnswerAtOnce(
    sockets::EventSocket& connection, ipc::ReceivedMessage message) {
  auto request = message.root<Request>();
  capnp::MallocMessageBuilder answer;
  auto reply = answer.initRoot<Reply>();
  switch (request->which()) {
    case Request::CONFIGURE:
    case Request::CONNECT:
      // The Supervisor, which owns the connections, answers these itself.
      return kj::READY_NOW;
    case Request::OPEN_SESSION:
      return opening_.Open(connection, request->getOpenSession(),
                           std::move(message.descriptors));
    case Request::COUNT_SESSIONS:
      sockets::Acknowledge(connection,
                           workers_.ShareCounters(message.descriptors));
      return kj::READY_NOW;
    case Request::SESSION_EXIT:
      return workers_.AnswerExit(connection, request->getSessionExit());
    case Request::END_WORKER:
      return workers_.AnswerEnd(connection, request->getEndWorker());
    case Request::ATTACH_POOL:
      return workers_.AttachPool(connection, request->getAttachPool(),
                                 message.descriptors.empty()
                                     ? ipc::UniqueFd()
                                     : std::move(message.descriptors[0]));
    case Request::PREPARE:
      return devices_.Prepare(connection, request->getPrepare().cStr());
    case Request::LOAD:
      return devices_.Load(connection, request->getLoad().getPath().cStr(),
                           request->getLoad().getEntryPoint().cStr());
    case Request::COMMAND:
    case Request::NEXT_EVENTS:
    case Request::DESCRIBE_HOST:
      return operators_.Answer(connection, *request);
    case Request::LIST_BACKENDS:
      ListBackends(reply.initBackends());
      break;
    case Request::FIND_DEVICE: {
      const auto name = ParseDeviceName(request->getFindDevice().cStr());
      const auto found = name ? catalog_.Find(*name)
                              : Result<catalog::BackendPointer>(name.error());
      found ? reply.setDeviceFound((*found)->candidate().name())
            : sockets::SetFailure(reply, found.error());
      break;
    }
    case Request::DESCRIBE_SANDBOX:
      (void)sandbox_.Ensure();
      sandbox_.Describe(reply.initSandbox());
      break;
    case Request::FRAME_DELIVERED:
      NoteFrame(request->getFrameDelivered());
      reply.setConfigured();
      break;
    case Request::CRASH_OUTCOME:
      NoteOutcome(request->getCrashOutcome());
      reply.setConfigured();
      break;
    case Request::FAILED_OVER:
      NoteFailover(request->getFailedOver());
      reply.setConfigured();
      break;
    case Request::CLOSE_SESSION:
      workers_.Close(request->getCloseSession());
      reply.setConfigured();
      break;
    case Request::SHADOW:
      StartShadow(request->getShadow(), std::move(message.descriptors));
      reply.setConfigured();
      break;
  }
  Send(connection, answer);
  return kj::READY_NOW;
}

void ApplicationRequests::ListBackends(schema::Backends::Builder out) {
  // The status is ignored: backends are described even where the tier is too
  // low to start any.
  (void)sandbox_.Ensure();
  catalog_.RefreshAll();
  catalog::DescribeBackends(catalog_, services_.context(), out);
  shadows_.Describe(out.getBackends());
}

void ApplicationRequests::NoteFrame(schema::DeliveredFrame::Reader delivered) {
  const uint64_t session = delivered.getSession();
  if (const catalog::BackendPointer backend = catalog_.OfSession(session)) {
    backend->FrameDelivered(session, ToPosition(delivered.getPosition()));
  }
}

void ApplicationRequests::NoteOutcome(schema::CrashOutcome::Reader outcome) {
  for (const uint64_t crash : outcome.getCrashes()) {
    services_.context().crashes.SetOutcome(crash, outcome.getOutcome().cStr());
  }
}

void ApplicationRequests::NoteFailover(schema::FailedOver::Reader failed) {
  const std::string device = failed.getDevice().cStr();
  const auto name = ParseDeviceName(device);
  const catalog::BackendPointer backend =
      name ? catalog_.Find(*name).value_or(nullptr) : nullptr;
  const bool in_vain = failed.getFailed();  // the other device failed as well
  if (backend) {
    in_vain ? backend->CountFailedFailover() : backend->CountFailover();
  }
  services_.context().events.Add(
      {.kind = in_vain ? Event::Kind::kFailoverFailed : Event::Kind::kFailover,
       .backend = backend ? backend->candidate().name() : "",
       .session = failed.getSession(),
       .device = device,
       .text = failed.getText().cStr()});
}

void ApplicationRequests::StartShadow(schema::Shadow::Reader request,
                                      std::vector<ipc::UniqueFd> descriptors) {
  const uint64_t session = request.getSession();
  const catalog::BackendPointer origin = catalog_.OfSession(session);
  // The session was closed meanwhile, or its bulkheadd was replaced.
  if (!origin) return;
  std::string device;
  for (const backend::Backend::OpenedSession& opened : origin->sessions()) {
    if (opened.id == session) device = opened.device;
  }
  // The descriptors are the media and the socket for frames. A stream that is
  // left out of the comparison comes with the socket alone.
  descriptors.resize(2);
  if (request.hasLeftOut() && request.getLeftOut().size() > 0) {
    descriptors[1] = std::move(descriptors[0]);
  }
  shadows_.Start({.session = session,
                  .device = std::move(device),
                  .path = request.getPath().cStr(),
                  .origin = origin,
                  .backend = devices_.Find(request.getAgainst().cStr())},
                 request, std::move(descriptors[0]), std::move(descriptors[1]));
}

}  // namespace bulkhead::supervisor
