// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/event_facts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/crashes/crash_json.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;

int64_t MillisecondsOf(const Event& event) {
  return std::chrono::floor<std::chrono::milliseconds>(
             event.time.time_since_epoch())
      .count();
}

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// Returns the trusted part of an exit report. The claims of the process are
// left out, since they may contain parts of the media.
Json FactsOf(const ExitReport& exit) {
  const bool named = exit.syscall_trusted;
  return {{"kind", crashes::NameOf(exit.kind)},
          {"value", exit.value},
          {"position", TextOrNull(exit.position)},
          {"syscall", named ? Json(exit.syscall) : Json()},
          {"crash", exit.crash == 0 ? Json() : Json(exit.crash)}};
}

}  // namespace

Json FactsOf(const Event& event) {
  return {{"version", kEventFormatVersion},
          {"time", TimeText(event)},
          {"unix_ms", MillisecondsOf(event)},
          {"host_pid", event.host_pid},
          {"number", event.number},
          {"lost", event.lost},
          {"kind", EventKindName(event.kind)},
          {"backend", event.backend},
          {"session", event.session == 0 ? Json() : Json(event.session)},
          {"device", TextOrNull(event.device)},
          {"state", TextOrNull(event.state)},
          {"text", TextOrNull(event.text)},
          {"exit", event.exit ? FactsOf(*event.exit) : Json()}};
}

std::string TimeText(const Event& event) {
  const int64_t ms = MillisecondsOf(event);
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(ms / 1000), ms % 1000);
}

}  // namespace bulkhead::cli::operators
