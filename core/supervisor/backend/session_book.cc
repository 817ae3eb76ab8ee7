// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/session_book.h"

#include <utility>

#include "core/control/exit_report.h"

namespace bulkhead::supervisor {

void SessionBook::Add(uint64_t id, const std::string& device,
                      SessionOrigin origin, Time now) {
  const SessionCounter* counter = counters_.Find(origin.counter);
  sessions_[id] = {.device = device,
                   .origin = std::move(origin),
                   .opened = now,
                   .frames = counter ? counter->frames.load() : 0};
  Note(Event::Kind::kSessionOpened, id);
}

void SessionBook::Remove(uint64_t id) {
  Note(Event::Kind::kSessionClosed, id);
  sessions_.erase(id);
}

const SessionBook::Session* SessionBook::Find(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::vector<SessionBook::Source> SessionBook::TakeNewFrames() {
  std::vector<Source> sources;
  for (auto& [id, session] : sessions_) {
    const SessionCounter* counter = counters_.Find(session.origin.counter);
    const uint64_t frames = counter ? counter->frames.load() : 0;
    if (counter && frames == session.frames) continue;
    session.frames = frames;
    sources.push_back({session.device, session.origin.input});
  }
  return sources;
}

void SessionBook::NoteWorkerEnd(uint64_t id, const ExitReport& report,
                                const std::string& more) {
  Note(Event::Kind::kWorkerEnded, id, &report, more);
}

void SessionBook::Note(Event::Kind kind, uint64_t id, const ExitReport* report,
                       const std::string& more) {
  const Session* session = Find(id);
  if (!session) return;
  Event event{.kind = kind,
              .backend = backend_,
              .session = id,
              .device = session->device,
              .text = session->origin.path};
  if (kind == Event::Kind::kSessionOpened && !session->origin.warning.empty()) {
    event.text += ": " + session->origin.warning;
  }
  if (report) {
    event.exit = *report;
    event.text += ": " + DescribeExit(*report) + more;
  }
  events_.Add(std::move(event));
}

}  // namespace bulkhead::supervisor
