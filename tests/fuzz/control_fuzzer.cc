// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the control messages that are not part of a longer talk: the hello of
// a worker, the device list of a probe worker, and the replies of bulkheadd
// (which is trusted, but whose socket an operator's tool finds by its name).
// The first byte of the input selects the reader; the rest is the packet.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/application/supervisor_link/report_reading.h"
#include "core/control/control_exchange.h"
#include "core/control/event_messages.h"
#include "core/control/exit_messages.h"
#include "core/control/exit_report.h"
#include "core/supervisor/backend/devices.h"
#include "core/worker_protocol/reply_validation.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/packet.h"
#include "tests/fuzz/printable_check.h"

namespace {

using namespace bulkhead;
namespace schema = ipc::schema;

constexpr size_t kMaxTextBytes = 512;
// The most texts that the devices of one list have together.
constexpr size_t kMaxTexts = 8192;

void FuzzHello(ipc::ReceivedMessage& hello) {
  for (const bool shared : {false, true}) {
    const Status status = worker_protocol::ValidateHello(hello, shared);
    FUZZ_CHECK(status.ok() || status.code() == Code::kBackendMisbehaved ||
               (shared && status.code() == Code::kResourceExhausted));
    CheckPrintable(status.message(), kMaxTextBytes);
  }
}

void FuzzDeviceList(ipc::ReceivedMessage& list) {
  const std::vector<std::string> reserved = {"acme", "other"};
  if (const auto claim = backend::ReadProbeCrash(list)) {
    FUZZ_CHECK(claim->backtrace.size() <= 64);
  }
  const auto devices = backend::ReadDeviceList(list, reserved);
  if (!devices) {
    FUZZ_CHECK(devices.error().code() == Code::kBackendMisbehaved ||
               devices.error().code() == Code::kBackendUnavailable);
    CheckPrintable(devices.error().message(), 2 * kMaxTextBytes);
    return;
  }
  FUZZ_CHECK(!devices->empty() && devices->size() <= 64);
  size_t texts = 0;
  for (size_t i = 0; i < devices->size(); ++i) {
    const backend::CountedDevice& device = (*devices)[i];
    FUZZ_CHECK(device.ordinal == i && device.index <= i);
    FUZZ_CHECK(std::ranges::count(reserved, device.name) == 1);
    CheckPrintable(device.description, 200);
    for (const StreamCapability& stream : device.capabilities.streams) {
      FUZZ_CHECK(stream.kind == "audio" || stream.kind == "video");
      for (const auto* list :
           {&stream.codecs, &stream.profiles, &stream.formats}) {
        texts += list->size();
        for (const std::string& text : *list) CheckPrintable(text, 64);
      }
    }
  }
  FUZZ_CHECK(texts <= kMaxTexts);
}

Status TakeAnyReply(schema::HostReply::Reader reply, ipc::ReceivedMessage&) {
  switch (reply.which()) {
    case schema::HostReply::BACKENDS: {
      BackendReport report;
      supervisor_link::AddTo(report, reply.getBackends());
      FUZZ_CHECK(report.backends.size() ==
                 reply.getBackends().getBackends().size());
      break;
    }
    case schema::HostReply::SANDBOX: {
      const SandboxReport report =
          supervisor_link::ToReport(reply.getSandbox());
      FUZZ_CHECK(report.reasons.size() == report.gaps.size());
      break;
    }
    case schema::HostReply::LOADED:
      (void)supervisor_link::ToDevices(reply.getLoaded());
      break;
    case schema::HostReply::EVENTS: {
      const auto events = ToEvents(reply.getEvents(), 7);
      FUZZ_CHECK(events.size() == reply.getEvents().getEvents().size());
      for (const Event& event : events) {
        FUZZ_CHECK(event.host_pid == 7);
        if (event.exit) FUZZ_CHECK(!DescribeExit(*event.exit).empty());
        FUZZ_CHECK(EventKindName(event.kind) != nullptr);
      }
      break;
    }
    case schema::HostReply::EXIT:
      FUZZ_CHECK(
          !DescribeExit(ToExitReport(reply.getExit().getReport())).empty());
      break;
    case schema::HostReply::POISONED:
      (void)ToPoisoned(reply.getPoisoned());
      break;
    default:
      return UnexpectedReply();
  }
  return Status();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  auto message = fuzz::Received({data + 1, size - 1});
  if (!message) return 0;
  switch (data[0]) {
    case 'h':
      FuzzHello(*message);
      break;
    case 'd':
      FuzzDeviceList(*message);
      break;
    case 'r':
      (void)ReadReply(*message, TakeAnyReply);
      break;
  }
  return 0;
}
