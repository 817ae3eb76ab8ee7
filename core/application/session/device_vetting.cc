// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/device_vetting.h"

#include <utility>
#include <vector>

#include "core/application/session/probe_session.h"
#include "core/application/session/stream_fit.h"
#include "core/base/device_name.h"
#include "core/base/status_macros.h"

namespace bulkhead::session {
namespace {

// Returns whether the caller's name `asked`, which may lack backend and index,
// means `device`. `device.name` has an index only if its backend has run.
bool Names(const std::string& asked, const DeviceInfo& device) {
  const auto wanted = ParseDeviceName(asked);
  const auto known = ParseDeviceName(device.name);
  return wanted && known && wanted->name == known->name &&
         (wanted->backend.empty() || wanted->backend == device.backend) &&
         (!known->index || *known->index == wanted->index.value_or(0));
}

}  // namespace

DeviceVetting::DeviceVetting(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    worker_link::MediaInput input, Wanted wanted, const Limits& limits,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : supervisor_(std::move(supervisor)),
      input_(std::move(input)),
      wanted_(std::move(wanted)),
      limits_(limits),
      cancel_(std::move(cancel)) {}

Result<std::optional<StreamMetadata>> DeviceVetting::Stream(
    const std::string& describer) const {
  const auto container = ProbeSession::Run(
      supervisor_, input_,
      {.device = describer, .scan = false, .allowed = wanted_.allowed}, limits_,
      cancel_);
  if (!container) {
    if (container.error().code() == Code::kCancelled) return container.error();
    return std::optional<StreamMetadata>();
  }
  const StreamMetadata* stream = StreamToOpen(
      *container, wanted_.kind, wanted_.stream_index, wanted_.stream_choice);
  return stream != nullptr ? std::make_optional(*stream)
                           : std::optional<StreamMetadata>();
}

std::string DeviceVetting::Others(const StreamMetadata& stream) const {
  const auto report = supervisor_->Backends();
  if (!report) return "";
  std::vector<DeviceInfo> others;
  bool ruled_out = false;
  for (const BackendInfo& backend : report->backends) {
    for (const DeviceInfo& device : backend.devices) {
      if (Names(wanted_.device, device)) {
        ruled_out = RulesOut(device.capabilities, stream);
      } else if (backend.state != "disabled" &&
                 backend.state != "quarantined") {
        others.push_back(device);
      }
    }
  }
  return ruled_out ? DevicesFor(stream, others) : "";
}

Status DeviceVetting::Vet(const std::string& describer) const {
  ASSIGN_OR_RETURN(const auto stream, Stream(describer));
  if (!stream) return Status();
  const std::string others = Others(*stream);
  if (others.empty()) return Status();
  return Status(Code::kUnsupported,
                "device " + wanted_.device + " does not decode its " +
                    StreamKindName(wanted_.kind) + " stream, " +
                    InWords(*stream) + "; " + others);
}

Status DeviceVetting::Explain(Status failure) const {
  if (failure.code() != Code::kUnsupported) return failure;
  ASSIGN_OR_RETURN(const auto stream, Stream(wanted_.device));
  const std::string others = stream ? Others(*stream) : "";
  if (others.empty()) return failure;
  return Status(failure.code(), failure.message() + "; the stream is " +
                                    InWords(*stream) + "; " + others);
}

}  // namespace bulkhead::session
