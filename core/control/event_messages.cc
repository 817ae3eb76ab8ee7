// SPDX-License-Identifier: Apache-2.0
#include "core/control/event_messages.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>

#include "core/control/exit_messages.h"

namespace bulkhead {

namespace schema = ipc::schema;
using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

namespace {

// Cuts times that are beyond the range of the clock.
Clock::time_point TimeOf(int64_t unix_ms) {
  using std::chrono::duration_cast;
  const auto clamped =
      std::clamp(milliseconds(unix_ms),
                 duration_cast<milliseconds>(Clock::duration::min()),
                 duration_cast<milliseconds>(Clock::duration::max()));
  return Clock::time_point(clamped);
}

}  // namespace

const char* EventKindName(Event::Kind kind) {
  static constexpr const char* kNames[] = {
      "backend-state",  "zygote-ended", "worker-ended",   "session-opened",
      "session-closed", "command",      "shadow-differs", "shadow-closed",
      "trial",          "failover",     "failover-failed"};
  const auto index = static_cast<size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

void Write(const Event& event, schema::Event::Builder out) {
  out.setNumber(event.number);
  out.setUnixMs(
      std::chrono::duration_cast<milliseconds>(event.time.time_since_epoch())
          .count());
  out.setKind(static_cast<schema::Event::Kind>(event.kind));
  out.setBackend(event.backend);
  out.setSession(event.session);
  out.setDevice(event.device);
  out.setState(event.state);
  out.setText(event.text);
  if (event.exit) Write(*event.exit, out.initExit());
}

std::vector<Event> ToEvents(schema::Events::Reader events, int host_pid) {
  std::vector<Event> result;
  for (const auto event : events.getEvents()) {
    Event& added = result.emplace_back();
    added.number = event.getNumber();
    added.time = TimeOf(event.getUnixMs());
    added.kind = static_cast<Event::Kind>(event.getKind());
    added.host_pid = host_pid;
    added.backend = event.getBackend().cStr();
    added.session = event.getSession();
    added.device = event.getDevice().cStr();
    added.state = event.getState().cStr();
    added.text = event.getText().cStr();
    if (event.hasExit()) {
      added.exit = ToExitReport(event.getExit());
      added.exit->backend = added.backend;
      added.exit->device = added.device;
    }
  }
  if (!result.empty()) result.front().lost = events.getLost();
  return result;
}

}  // namespace bulkhead
