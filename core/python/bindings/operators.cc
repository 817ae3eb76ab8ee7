// SPDX-License-Identifier: Apache-2.0
#include "bulkhead/operators.h"

#include <pybind11/chrono.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/crashes.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;
using Released = py::call_guard<WithoutGil>;

void DefineEvents(py::module_& module) {
  Record<Event>(module, "Event", "One event of a backend or a session.")
      .field("number", &Event::number)
      .computed(
          "time",
          [](const Event& self) {
            return std::chrono::duration<double>(self.time.time_since_epoch())
                .count();
          })
      .computed("kind",
                [](const Event& self) { return EventKindName(self.kind); })
      .field("host_pid", &Event::host_pid)
      .field("backend", &Event::backend)
      .field("session", &Event::session)
      .field("device", &Event::device)
      .field("state", &Event::state)
      .field("text", &Event::text)
      .field("exit", &Event::exit)
      .field("lost", &Event::lost);
  module.def(
      "recent_events",
      [](std::optional<int> pid) { return ValueOf(RecentEvents(pid)); },
      Released(), py::arg("host_pid"));
  py::class_<EventFollower>(module, "EventFollower",
                            "Follows the events of running applications.")
      .def(py::init([](std::optional<int> pid) {
             return ValueOf(EventFollower::Create(pid));
           }),
           Released(), py::arg("host_pid"))
      .def(
          "next",
          [](EventFollower& self, std::chrono::milliseconds timeout) {
            return ValueOf(self.Next(timeout));
          },
          Released(), py::arg("timeout"));
}

void DefineRunning(py::module_& module) {
  Record<RunningSession>(module, "RunningSession",
                         "One open session of an application.")
      .field("session", &RunningSession::session)
      .field("device", &RunningSession::device)
      .field("input", &RunningSession::input)
      .field("worker_pid", &RunningSession::worker_pid)
      .field("frames", &RunningSession::frames)
      .field("frames_per_second", &RunningSession::frames_per_second)
      .field("restarts", &RunningSession::restarts)
      .field("waiting", &RunningSession::waiting);
  Record<RunningBackend>(module, "RunningBackend",
                         "One backend of an application.")
      .field("name", &RunningBackend::name)
      .field("state", &RunningBackend::state)
      .field("reason", &RunningBackend::reason)
      .field("incarnation", &RunningBackend::incarnation)
      .field("restarts", &RunningBackend::restarts)
      .field("failovers", &RunningBackend::failovers)
      .field("failed_failovers", &RunningBackend::failed_failovers)
      .field("worker_pids", &RunningBackend::worker_pids)
      .field("memory_bytes", &RunningBackend::memory_bytes)
      .field("sessions", &RunningBackend::sessions)
      .field("shadow", &RunningBackend::shadow);
  Record<WrittenOffWorker>(module, "WrittenOffWorker",
                           "A worker that was killed and has not ended.")
      .field("backend", &WrittenOffWorker::backend)
      .field("pid", &WrittenOffWorker::pid)
      .field("since", &WrittenOffWorker::since);
  Record<RunningHost>(module, "RunningHost",
                      "One bulkheadd and the application it serves.")
      .field("pid", &RunningHost::pid)
      .field("command", &RunningHost::command)
      .field("supervisor_pid", &RunningHost::supervisor_pid)
      .field("uptime", &RunningHost::uptime)
      .computed(
          "tier",
          [](const RunningHost& self) { return SandboxTierName(self.tier); })
      .field("memory_bytes", &RunningHost::memory_bytes)
      .field("backends", &RunningHost::backends)
      .field("written_off", &RunningHost::written_off);
  Record<SilentHost>(module, "SilentHost", "A bulkheadd that did not answer.")
      .field("pid", &SilentHost::pid)
      .field("command", &SilentHost::command)
      .field("reason", &SilentHost::reason);
  Record<RunningHosts>(module, "RunningHosts",
                       "Every bulkheadd that answered, and those that did not.")
      .field("hosts", &RunningHosts::hosts)
      .field("silent", &RunningHosts::silent);
  module.def(
      "find_running_hosts",
      [](std::chrono::milliseconds window) {
        return ValueOf(FindRunningHosts(window));
      },
      Released(), py::arg("window"));
}

void DefineCrashes(py::module_& module) {
  Record<Crash>(module, "Crash", "The record of one crash.")
      .field("number", &Crash::number)
      .field("time", &Crash::time)
      .computed("application_pid",
                [](const Crash& self) { return self.application.pid; })
      .computed("application_program",
                [](const Crash& self) { return self.application.program; })
      .computed("backend", [](const Crash& self) { return self.backend.name; })
      .computed("distribution",
                [](const Crash& self) { return self.backend.distribution; })
      .computed("version",
                [](const Crash& self) { return self.backend.version; })
      .computed("file", [](const Crash& self) { return self.backend.file; })
      .field("device", &Crash::device)
      .computed("tier",
                [](const Crash& self) { return SandboxTierName(self.tier); })
      .field("incarnation", &Crash::incarnation)
      .field("process", &Crash::process)
      .field("blamed", &Crash::blamed)
      .field("end", &Crash::end)
      .field("cause", &Crash::cause)
      .field("claims_cause", &Crash::claims_cause)
      .computed("input",
                [](const Crash& self) {
                  return self.input ? std::optional(self.input->path)
                                    : std::nullopt;
                })
      .field("last_message", &Crash::last_message)
      .field("attempt", &Crash::attempt)
      .field("had_media", &Crash::had_media)
      .field("log", &Crash::log)
      .field("media_log", &Crash::media_log)
      .field("outcome", &Crash::outcome)
      .field("unrecorded", &Crash::unrecorded)
      .computed("summary", [](const Crash& self) { return Summary(self); });
  module.def(
      "read_crashes",
      [](const std::optional<std::string>& state_directory) {
        return ValueOf(ReadCrashes(state_directory)).crashes;
      },
      Released(), py::arg("state_directory"));
  module.def(
      "clear_crashes",
      [](const std::optional<std::string>& state_directory) {
        ValueOf(ClearCrashes(state_directory));
      },
      Released(), py::arg("state_directory"));
}

}  // namespace

void DefineOperators(py::module_& module) {
  DefineEvents(module);
  DefineRunning(module);
  DefineCrashes(module);
}

}  // namespace bulkhead::python
