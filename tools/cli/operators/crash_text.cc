// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/crash_text.h"

#include <fmt/format.h>

#include <cctype>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/crashes/crash_json.h"

namespace bulkhead::cli::operators {
namespace {

std::string OrNotKnown(const std::string& text) {
  return text.empty() ? "not known" : text;
}

// Returns the outcome of the application's call in words. A record has the name
// of a C++ Code for a failed call: "kBackendLost" becomes "the call failed:
// backend lost". Other outcomes, such as "recovered", stay as they are.
std::string DescribeOutcome(const std::string& outcome) {
  const bool code = outcome.size() > 1 && outcome[0] == 'k' &&
                    std::isupper(static_cast<unsigned char>(outcome[1])) != 0;
  if (!code) return OrNotKnown(outcome);
  std::string text = "the call failed:";
  for (const char letter : outcome.substr(1)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isupper(byte) != 0) text += ' ';
    text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

std::string ValueOrOfStream(const std::optional<int>& asked) {
  return asked ? std::to_string(*asked) : "of the stream";
}

// Adds a line with the name and the value of a field.
using AddField = std::function<void(std::string_view, const std::string&)>;

// Adds the request that was being served when the process crashed.
void AddRequest(const Crash& crash, const AddField& line) {
  const Crash::Request& request = crash.request;
  std::string asked = crashes::NameOf(request.kind);
  if (request.kind == Crash::Request::Kind::kNext ||
      request.kind == Crash::Request::Kind::kFrameAt) {
    asked += fmt::format(", {} {}", request.audio ? "sample" : "frame",
                         request.frame);
  }
  line("asked for", asked);
  line("last message", OrNotKnown(crash.last_message));
  line("stream",
       request.stream_index
           ? fmt::format("{}", *request.stream_index)
           : fmt::format("the {} of {}",
                         request.stream_choice == StreamChoice::kBest ? "best"
                                                                      : "first",
                         request.audio ? "audio" : "video"));
  if (request.audio) {
    line("audio", fmt::format("rate {}, channels {}",
                              ValueOrOfStream(request.sample_rate),
                              ValueOrOfStream(request.num_channels)));
  } else {
    line("threads", fmt::format("{}", request.threads));
  }
  const auto facts = crashes::ToJson(crash);
  if (!request.transforms.empty()) {
    line("transforms", facts["request"]["transforms"].dump());
  }
  if (request.output_dtype != OutputDtype::kUint8) {
    line("dtype", facts["request"]["output_dtype"].get<std::string>());
  }
  line("on corrupt", crashes::NameOf(request.on_corrupt));
  for (const auto& [key, value] : request.backend_options) {
    line("option", key + "=" + value);
  }
  if (!request.complete) line("option", "(too many to be recorded)");
  line("attempt",
       fmt::format("{}, deadline {} ms", crash.attempt, request.deadline_ms));
}

constexpr char kMayHaveMedia[] =
    " and may contain parts of the media (--json leaves them out)";

void AddLines(const std::string& heading, const std::vector<std::string>& lines,
              std::vector<std::string>& text) {
  if (lines.empty()) return;
  text.push_back(heading);
  for (const std::string& line : lines) text.push_back("  " + line);
}

// Adds the parts of a record that come from the crashed process itself.
void AddClaims(const Crash& crash, std::vector<std::string>& text) {
  const ExitReport& end = crash.end;
  if (end.claimed_address != 0 || !end.claimed_backtrace.empty()) {
    text.push_back(
        fmt::format("what the process said itself, which need not be true{}:",
                    crash.had_media ? kMayHaveMedia : ""));
    if (end.kind == ExitReport::Kind::kSignaled) {
      text.push_back(fmt::format("  it touched {:#x}", end.claimed_address));
    }
    for (size_t i = 0; i < end.claimed_backtrace.size(); ++i) {
      text.push_back(fmt::format("  #{:<2} {}", i, end.claimed_backtrace[i]));
    }
  }
  AddLines("the last lines that the backend wrote, which need not be true:",
           crash.log, text);
  AddLines(
      fmt::format("the last lines that the backend wrote since it had media, "
                  "which need not be true{}:",
                  kMayHaveMedia),
      crash.media_log, text);
}

}  // namespace

std::string LineOf(const Crash& crash) {
  return fmt::format(
      "{:>5}  {}  {}{}", crash.number, crash.time, Summary(crash),
      crash.end.position.empty() ? "" : "; " + crash.end.position);
}

std::vector<std::string> LinesOf(const Crash& crash) {
  std::vector<std::string> text = {
      fmt::format("crash {}: {}", crash.number, Summary(crash))};
  const AddField line = [&](std::string_view name, const std::string& value) {
    text.push_back(fmt::format("  {:<13} {}", name, value));
  };
  line("when", crash.time);
  line("application", fmt::format("{} ({})", crash.application.program,
                                  crash.application.pid));
  const Crash::Backend& backend = crash.backend;
  line("backend", fmt::format("{}, {} {}", backend.name, backend.distribution,
                              backend.version));
  line("file", backend.file);
  line("hash", backend.hash.empty() ? "RECORD has none" : backend.hash);
  line("device", crash.device.empty() ? "all of them" : crash.device);
  line("sandbox", fmt::format("tier {}", SandboxTierName(crash.tier)));
  line("process", fmt::format("{}, of start {} of the backend", crash.process,
                              crash.incarnation));
  line("where", OrNotKnown(crash.end.position));
  if (crash.input) {
    line("input", fmt::format("{}, {} bytes, device {}, inode {}",
                              crash.input->path, crash.input->bytes,
                              crash.input->device, crash.input->inode));
    AddRequest(crash, line);
  }
  line("to blame", crash.blamed);
  line("outcome", DescribeOutcome(crash.outcome));
  if (crash.unrecorded > 0) {
    line("around it",
         fmt::format("{} more that were not recorded", crash.unrecorded));
  }
  AddClaims(crash, text);
  return text;
}

}  // namespace bulkhead::cli::operators
