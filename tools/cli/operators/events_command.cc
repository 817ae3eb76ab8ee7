// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/operators.h>
#include <fmt/format.h>
#include <signal.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/application/writers/output.h"
#include "tools/cli/command_line.h"
#include "tools/cli/operators/event_facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr char kExamples[] = R"(Examples:
  bulkhead events                    list the events that are kept
  bulkhead events --follow           also print new ones, until ^C
  bulkhead events --follow --json | jq 'select(.kind == "worker-ended")'

Times are UTC. Each bulkheadd keeps its latest 1024 events. --follow ends with
the last of the applications that it follows. The lines of --json have a format
with a version, which events.schema.json in share/bulkhead describes.)";

// The longest wait for events. A signal that arrives just before a wait begins
// does not interrupt the wait, and is noticed only at its end.
constexpr milliseconds kLookForSignal{200};

volatile sig_atomic_t interrupted = 0;

std::string Sentence(const Event& event) {
  std::string line = fmt::format("{} {} {} {}", TimeText(event), event.host_pid,
                                 event.backend, EventKindName(event.kind));
  if (event.session != 0) line += fmt::format(" {}", event.session);
  if (!event.device.empty()) line += " " + event.device;
  if (!event.state.empty()) line += " " + event.state;
  if (!event.text.empty()) line += ": " + event.text;
  return line;
}

std::string LineOf(const Event& event, bool json) {
  return json ? FactsOf(event).dump(-1, ' ', true,
                                    Json::error_handler_t::replace)
              : Printable(Sentence(event));
}

// Prints a line for each event and flushes them, so that the reader of a pipe
// gets them at once. Returns false if the reader has gone away.
Result<bool> Show(const std::vector<Event>& events, bool json) {
  Result<std::unique_ptr<writers::Output>> output = writers::Output::Open("-");
  if (!output) return output.error();
  for (const Event& event : events) {
    if (event.lost > 0 && !json) {
      Say(fmt::format("{} events of process {} are lost", event.lost,
                      event.host_pid));
    }
    Status status = (*output)->Write(LineOf(event, json) + "\n");
    if (status.ok() && &event == &events.back()) status = (*output)->Close();
    if ((*output)->reader_gone()) return false;
    if (!status.ok()) return status;
  }
  return true;
}

int Follow(std::optional<int> host, bool json) {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  Result<EventFollower> follower = EventFollower::Create(host);
  if (!follower) return Fail(follower.error());
  while (!interrupted) {
    const auto events = follower->Next(kLookForSignal);
    // The last of the followed applications has ended.
    if (!events && events.error().code() == Code::kBackendLost) return 0;
    const Result<bool> shown =
        events ? Show(*events, json) : Result<bool>(events.error());
    if (!shown) return Fail(shown.error());
    if (!*shown) return 0;
  }
  return 0;
}

struct EventsOptions {
  std::optional<int> host;
  bool follow = false;
  bool json = false;
};

int RunEvents(const GlobalOptions&, const EventsOptions& options) {
  if (options.follow) return Follow(options.host, options.json);
  const auto events = RecentEvents(options.host);
  if (!events) return Fail(events.error());
  const Result<bool> shown = Show(*events, options.json);
  return shown ? 0 : Fail(shown.error());
}

}  // namespace

void AddEventsCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<EventsOptions>(
      program, invocation, "events",
      "List what happened to backends and sessions", kExamples, RunEvents);
  command.AddOption("--host PID", &options.host,
                    "Only events of this application");
  command.AddFlag("--follow", &options.follow,
                  "Print new events as they happen");
  command.AddFlag("--json", &options.json,
                  "Print a line of JSON for each event on stdout");
}

}  // namespace bulkhead::cli::operators
