// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/session_book.h"

#include <utility>

#include "core/control/exit_report.h"
#include "core/supervisor/records/kept_counts.h"

namespace bulkhead::records {
namespace {

std::chrono::milliseconds ToMilliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time);
}

}  // namespace

void SessionBook::Add(uint64_t id, const std::string& device,
                      SessionOrigin origin, Time now) {
  if (!origin.replayed) ++counts_.streams;
  // Earlier sessions of the same stream stop counting. Sessions without a
  // counter may have the same number and be of different streams.
  for (auto& [other, session] : sessions_) {
    if (session.origin.counter != origin.counter ||
        !counters_.Find(origin.counter)) {
      continue;
    }
    if (session.lost) AddTo(counts_.recoveries, now - *session.lost);
    session.lost.reset();
    counts_.frames += NewFramesOf(session);
    session.succeeded = true;
  }
  const uint64_t frames = FramesOf(origin);
  sessions_[id] = {.device = device,
                   .origin = std::move(origin),
                   .opened = now,
                   .frames = frames};
  Note(Event::Kind::kSessionOpened, id);
}

void SessionBook::Remove(uint64_t id, Time now) {
  Note(Event::Kind::kSessionClosed, id);
  if (const Session* session = Find(id)) {
    counts_.frames += NewFramesOf(*session);
    counts_.session_time += ToMilliseconds(now - session->opened);
  }
  sessions_.erase(id);
}

void SessionBook::AddOpen(BackendCounts& counts, Time now) const {
  for (const auto& [id, session] : sessions_) {
    counts.frames += NewFramesOf(session);
    counts.session_time += ToMilliseconds(now - session.opened);
  }
}

uint64_t SessionBook::FramesOf(const SessionOrigin& origin) const {
  const SessionCounter* counter = counters_.Find(origin.counter);
  return counter ? counter->frames.load() : 0;
}

uint64_t SessionBook::NewFramesOf(const Session& session) const {
  const uint64_t frames = FramesOf(session.origin);
  if (session.succeeded || frames < session.frames) return 0;
  return frames - session.frames;
}

const SessionBook::Session* SessionBook::Find(uint64_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

std::vector<SessionBook::Source> SessionBook::TakeNewFrames() {
  std::vector<Source> sources;
  for (auto& [id, session] : sessions_) {
    const uint64_t frames = FramesOf(session.origin);
    if (counters_.Find(session.origin.counter) && frames == session.frames) {
      continue;
    }
    counts_.frames += NewFramesOf(session);
    session.frames = frames;
    sources.push_back({session.device, session.origin.input});
  }
  return sources;
}

void SessionBook::NoteWorkerEnd(uint64_t id, const ExitReport& report,
                                const std::string& more, Time now) {
  Note(Event::Kind::kWorkerEnded, id, &report, more);
  const auto found = sessions_.find(id);
  if (found != sessions_.end()) found->second.lost = now;
}

void SessionBook::Note(Event::Kind kind, uint64_t id, const ExitReport* report,
                       const std::string& more) {
  const Session* session = Find(id);
  if (!session) return;
  Event event{.kind = kind,
              .backend = counts_.backend,
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

}  // namespace bulkhead::records
