// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/current_worker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/application/session/device_vetting.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/base/status_macros.h"
#include "core/control/exit_report.h"

namespace bulkhead::session {

CurrentWorker::CurrentWorker(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const worker_link::MediaInput& input, DeviceChoice choice,
    const Limits& limits, std::shared_ptr<supervisor_link::CancelSignal> cancel,
    uint32_t counter, Client& client)
    : supervisor_(std::move(supervisor)),
      input_(input),
      choice_(std::move(choice)),
      limits_(limits),
      cancel_(std::move(cancel)),
      counter_(counter),
      client_(client),
      device_(choice_.device) {}

Status CurrentWorker::Start(bool alone, bool delivered) {
  supervisor_link::SessionRequest request{
      .device = choice_.device,
      .audio = choice_.request.audio,
      .alone = alone,
      .input = choice_.input_key,
      .path = input_.name(),
      .counter = counter_,
      .worker_bytes = limits_.worker_bytes,
      .session_bytes = limits_.session_bytes};
  if (!vetted_ && choice_.vetting) {
    request.vet = [this](const std::string& describer) {
      return choice_.vetting->Vet(describer);
    };
  }
  const std::unique_ptr<worker_link::WorkerLink> lost = std::move(lost_);
  // If the dead worker has delivered something, bulkheadd prefers the same
  // version of the backend. `lost` keeps its session open until this function
  // returns.
  if (lost && delivered) {
    request.continues = lost->started().session;
    request.continues_generation = lost->started().generation;
  }
  ASSIGN_OR_RETURN(
      link_, worker_link::WorkerLink::Start(supervisor_, std::move(request),
                                            input_, cancel_));
  device_ = link_->started().device;
  Status opened = Open();
  // A live worker without a stream cannot be used. The link to a dead worker is
  // kept, since WorkerRecovery still asks how the worker ended.
  if (!opened.ok() && !link_->dead()) Drop();
  return opened;
}

Status CurrentWorker::Open() {
  RETURN_IF_ERROR(link_->CheckAttached());
  start_time_ = link_->start_time();
  vetted_ = true;
  ASSIGN_OR_RETURN(const bool same, client_.OpenOn(*link_, ++incarnation_));
  if (same) return Status();
  return Status(
      Code::kBadInput,
      "it was opened again in a new worker and has another stream now "
      "(another size, codec or index): the file was changed meanwhile; "
      "open it again from the start");
}

Status CurrentWorker::CheckAccepts(const InputPosition& position,
                                   const char* unit) const {
  const std::vector<PoisonedPosition>& poisoned = link_->started().poisoned;
  const auto here = std::find_if(
      poisoned.begin(), poisoned.end(),
      [&](const auto& known) { return known.position == position; });
  if (here == poisoned.end()) return Status();
  return supervisor_link::RefusalOf(*here, unit, link_->started().device);
}

void CurrentWorker::Drop() {
  client_.WorkerLost(/*kept=*/false);
  link_.reset();
}

void CurrentWorker::SetAside() {
  client_.WorkerLost(link_->End());
  lost_ = std::move(link_);
}

void CurrentWorker::MoveTo(DeviceChoice elsewhere) {
  if (link_) Drop();
  lost_.reset();
  choice_ = std::move(elsewhere);
  vetted_ = false;
  client_.DeviceChanged();
}

std::string CurrentWorker::DescribeCause(const Status& death,
                                         const ExitReport& report) const {
  if (!link_) return death.message();
  if (report.kind == ExitReport::Kind::kUnknown &&
      !supervisor_->sessions().StillServes(link_->started())) {
    return "bulkheadd ended or hung and was replaced";
  }
  return DescribeExit(report);
}

Status CurrentWorker::Explain(Status failure) const {
  if (!vetted_ || !choice_.vetting) return failure;
  return choice_.vetting->Explain(std::move(failure));
}

}  // namespace bulkhead::session
