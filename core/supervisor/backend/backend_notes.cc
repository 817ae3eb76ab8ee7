// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/control/exit_report.h"
#include "core/supervisor/backend/backend.h"

// What a Backend tells its operators.
namespace bulkhead::supervisor {

using Kind = bulkhead::Event::Kind;

void Backend::NoteState() {
  noting_ = kj::evalLater([this] {
              context_.events.Add({.kind = Kind::kBackendState,
                                   .backend = candidate_.name(),
                                   .state = NameOf(state_),
                                   .text = reason_});
            }).eagerlyEvaluate(nullptr);
}

void Backend::NoteZygoteEnd() {
  const std::string& end = current_->zygote_end();
  context_.events.Add({.kind = Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = end.empty() ? "with its reaper" : end});
}

void Backend::NoteSession(Kind kind, uint64_t id, const ExitReport* report) {
  const auto session = sessions_.find(id);
  if (session == sessions_.end()) return;
  bulkhead::Event event{.kind = kind,
                        .backend = candidate_.name(),
                        .session = id,
                        .device = session->second.device,
                        .text = session->second.origin.path};
  if (report) {
    event.exit = *report;
    event.text += ": " + DescribeExit(*report);
  }
  context_.events.Add(std::move(event));
}

std::vector<Backend::OpenedSession> Backend::sessions() const {
  std::vector<OpenedSession> opened;
  for (const auto& [id, session] : sessions_) {
    opened.push_back({.id = id,
                      .device = session.device,
                      .origin = session.origin,
                      .worker_pid = workers_.pid(id)});
  }
  return opened;
}

}  // namespace bulkhead::supervisor
