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
  uint32_t counter = 0;   // the session's place in HostCounters
  std::string warning;    // a warning of the host for people, or empty
  bool replayed = false;  // true if the stream has lost a worker before
  sandbox::MemoryAllowance memory;  // see Workers::Serve
};

// The list of the open sessions of one backend: the origin of each session, its
// device, and the number of frames that the host has received. Adds the opening
// and closing of sessions to the event log, and counts for operators.
//
// A stream whose worker has died goes on in a new session. Sessions with the
// same counter belong to one stream; the session opened last serves the stream.
//
// Owned by Backend. Bound to the event loop's thread.
class SessionBook {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The device and the input from which new frames came.
  struct Source {
    std::string device;  // canonical: "openreg:1"
    std::string input;   // see SessionOrigin
  };
  struct Session {
    std::string device;  // canonical: "openreg:1"
    SessionOrigin origin;
    Time opened;
    uint64_t frames = 0;  // the stream's frames that are counted already
    // The time at which the end of its worker was reported. Nullopt before that
    // report, and after another session has taken over the stream.
    std::optional<Time> lost = std::nullopt;
    bool succeeded = false;  // true once another session serves the stream
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

  // Returns the sources of the sessions that got a frame since the last call.
  // Includes sessions that are not counted, since they may have got a frame.
  std::vector<Source> TakeNewFrames();
  // Adds the end of the session's worker to the event log. `more` is appended
  // to the text.
  void NoteWorkerEnd(uint64_t id, const ExitReport& report,
                     const std::string& more, Time now);
  // Adds to `counts` the frames and the time of the open sessions that the
  // backend's own counts do not contain yet.
  void AddOpen(BackendCounts& counts, Time now) const;

 private:
  // Adds an event about the session to the event log.
  void Note(Event::Kind kind, uint64_t id, const ExitReport* report = nullptr,
            const std::string& more = "");

  // Returns the frames of a session's stream so far; 0 if they are not counted.
  uint64_t FramesOf(const SessionOrigin& origin) const;
  // Returns the frames since the last TakeNewFrames(), or 0 if another session
  // serves the stream.
  uint64_t NewFramesOf(const Session& session) const;

  const HostCounters& counters_;
  EventLog& events_;
  BackendCounts& counts_;
  std::map<uint64_t, Session> sessions_;
};

}  // namespace bulkhead::records
