// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/backend_counts.h"
#include "core/include/bulkhead/event.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/records/event_log.h"
#include "core/supervisor/records/host_counters.h"
#include "core/supervisor/sandbox/memory_limit.h"

namespace bulkhead::records {

// The facts that the host gives about a session when the host opens it.
struct SessionOrigin {
  std::string input;      // the key of the input in InputDeaths
  std::string path;       // the path of the input, for people
  uint32_t counter = 0;   // the session's place among the host's counters
  std::string warning;    // what the host has to say, for people
  bool replayed = false;  // true if the stream has lost a worker before
  sandbox::MemoryAllowance memory;  // see Workers::Serve
};

// The open sessions of one backend: the origin of each session, its device, and
// the number of frames that it has received. Reports sessions to the event log,
// and counts them for operators. Sessions with the same counter belong to one
// stream; the one that was opened last serves it.
//
// Owned by Backend. Bound to the event loop's thread.
class SessionBook {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The origin of frames.
  struct Source {
    std::string device;  // canonical: "openreg:1"
    std::string input;   // see SessionOrigin
  };
  struct Session {
    std::string device;  // canonical: "openreg:1"
    SessionOrigin origin;
    Time opened;
    uint64_t frames = 0;  // the count at the last TakeNewFrames()
    // When the end of its worker was reported; nullopt before, and again once
    // the stream has another session.
    std::optional<Time> lost = std::nullopt;
    bool succeeded = false;  // true if the stream has another session
  };

  // `counters`, `events` and the backend's `counts` must outlive this object.
  SessionBook(const HostCounters& counters, EventLog& events,
              BackendCounts& counts)
      : counters_(counters), events_(events), counts_(counts) {}

  void Add(uint64_t id, const std::string& device, SessionOrigin origin,
           Time now);
  void Remove(uint64_t id, Time now);
  // Returns null if there is no such session.
  const Session* Find(uint64_t id) const;
  const std::map<uint64_t, Session>& all() const { return sessions_; }

  // Returns the devices of the sessions that got a frame since the last call.
  // Includes the devices of sessions without a counter, since they may have got
  // a frame.
  std::vector<Source> TakeNewFrames();
  // Adds to the event log that the session's worker has ended. `more` is
  // appended to the text.
  void NoteWorkerEnd(uint64_t id, const ExitReport& report,
                     const std::string& more, Time now);
  // Adds what the open sessions have come to and the backend's counts do not
  // have yet.
  void AddOpen(BackendCounts& counts, Time now) const;

 private:
  void Note(Event::Kind kind, uint64_t id, const ExitReport* report = nullptr,
            const std::string& more = "");

  // Returns the frames of a session's stream so far; 0 if they are not counted.
  uint64_t FramesOf(const SessionOrigin& origin) const;
  // Returns the frames since the last TakeNewFrames(), or 0 if the stream has
  // another session.
  uint64_t NewFramesOf(const Session& session) const;

  const HostCounters& counters_;
  EventLog& events_;
  BackendCounts& counts_;
  std::map<uint64_t, Session> sessions_;
};

}  // namespace bulkhead::records
