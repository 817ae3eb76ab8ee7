// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/crashes_command.h"

#include <bulkhead/crashes.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/crashes/crash_json.h"
#include "tools/cli/facts.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kExamples[] = R"(Examples:
  bulkhead crashes                    list number, time, backend, cause, place
  bulkhead crashes show 12            show all of one record
  bulkhead crashes show 12 --json     to send to the vendor: without what may
                                      contain parts of the media
  bulkhead crashes --json | jq '.crashes[].end.kind'
  bulkhead crashes clear              remove all records
  bulkhead replay 12                  try whether it happens again

The latest 200 records are kept in `crashes` of the state directory:
BULKHEAD_STATE_DIR, else /var/lib/bulkhead for root, else
~/.local/state/bulkhead. With an empty BULKHEAD_STATE_DIR none are kept. A worker
that another process ended by SIGKILL is not recorded as a crash.)";

struct CrashesOptions {
  uint64_t number = 0;
  bool json = false;
  bool with_media_text = false;
};

Json FactsOfCrash(const Crash& crash, const CrashesOptions& options) {
  return options.with_media_text ? crashes::ToJson(crash)
                                 : crashes::ToJsonWithoutMediaText(crash);
}

std::string OrNotKnown(const std::string& text) {
  return text.empty() ? "not known" : text;
}

void PrintList(const CrashList& list) {
  if (list.crashes.empty()) Say("there are no records of crashes");
  uint64_t unrecorded = 0;
  for (const Crash& crash : list.crashes) {
    unrecorded += crash.unrecorded;
    Print(fmt::format(
        "{:>5}  {}  {}{}", crash.number, crash.time, Summary(crash),
        crash.end.position.empty() ? "" : "; " + crash.end.position));
    if (crash.unrecorded == 0) continue;
    Print(fmt::format("       around it: {} more that were not recorded",
                      crash.unrecorded));
  }
  if (unrecorded > 0) {
    Print(fmt::format("{} crashes are recorded, {} were not",
                      list.crashes.size(), unrecorded));
  }
  for (const Diagnostic& diagnostic : list.diagnostics) {
    Say(ToString(diagnostic));
  }
}

// Returns what the application saw, in words: "kBackendLost" becomes "the call
// failed: backend lost", "recovered" stays. A record has the name of a C++
// Code.
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

std::string OfStreamOr(const std::optional<int>& asked) {
  return asked ? std::to_string(*asked) : "of the stream";
}

void PrintRequest(
    const Crash& crash,
    const std::function<void(std::string_view, std::string)>& line) {
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
    line("audio",
         fmt::format("rate {}, channels {}", OfStreamOr(request.sample_rate),
                     OfStreamOr(request.num_channels)));
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

void PrintLines(const std::string& heading,
                const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  Print(heading);
  for (const std::string& line : lines) Print("  " + line);
}

void PrintClaims(const Crash& crash) {
  const ExitReport& end = crash.end;
  if (end.claimed_address != 0 || !end.claimed_backtrace.empty()) {
    Print(fmt::format("what the process said itself, which need not be true{}:",
                      crash.had_media ? kMayHaveMedia : ""));
    if (end.kind == ExitReport::Kind::kSignaled) {
      Print(fmt::format("  it touched {:#x}", end.claimed_address));
    }
    for (size_t i = 0; i < end.claimed_backtrace.size(); ++i) {
      Print(fmt::format("  #{:<2} {}", i, end.claimed_backtrace[i]));
    }
  }
  PrintLines("the last lines that the backend wrote, which need not be true:",
             crash.log);
  PrintLines(
      fmt::format("the last lines that the backend wrote since it had media, "
                  "which need not be true{}:",
                  kMayHaveMedia),
      crash.media_log);
}

void PrintWhole(const Crash& crash) {
  const auto line = [](std::string_view name, const std::string& value) {
    Print(fmt::format("  {:<13} {}", name, value));
  };
  Print(fmt::format("crash {}: {}", crash.number, Summary(crash)));
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
    PrintRequest(crash, line);
  }
  line("to blame", crash.blamed);
  line("outcome", DescribeOutcome(crash.outcome));
  if (crash.unrecorded > 0) {
    line("around it",
         fmt::format("{} more that were not recorded", crash.unrecorded));
  }
  PrintClaims(crash);
}

int RunList(const CrashesOptions& options) {
  const Result<CrashList> list = ReadCrashes();
  if (!list) return Fail(list.error());
  if (!options.json) return PrintList(*list), FinishPrinting();
  Json crashes = Json::array();
  for (const Crash& crash : list->crashes) {
    crashes.push_back(FactsOfCrash(crash, options));
  }
  return PrintFacts(Json{{"crashes", std::move(crashes)},
                         {"diagnostics", FactsOf(list->diagnostics)}});
}

int RunShow(const CrashesOptions& options) {
  const Result<Crash> crash = ReadCrash(options.number);
  if (!crash) return Fail(crash.error());
  if (options.json) return PrintFacts(FactsOfCrash(*crash, options));
  return PrintWhole(*crash), FinishPrinting();
}

int RunClear() {
  const Status cleared = ClearCrashes();
  return cleared.ok() ? 0 : Fail(cleared);
}

}  // namespace

void AddCrashesCommand(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<CrashesOptions>();
  CLI::App* command = AddSubcommand(
      app, invocation, "crashes", "Show how processes of backends crashed",
      kExamples, [options, &app](const GlobalOptions&) {
        const CLI::App* command = app.get_subcommand("crashes");
        if (command->got_subcommand("clear")) return RunClear();
        return command->got_subcommand("show") ? RunShow(*options)
                                               : RunList(*options);
      });
  command->require_subcommand(0, 1);
  command->add_flag("--json", options->json, "Print JSON on stdout");
  command->add_flag("--with-media-text", options->with_media_text,
                    "With --json: also what processes wrote since they had "
                    "media, which may contain parts of it");
  CLI::App* show = command->add_subcommand("show", "Show all of one record");
  show->add_option("N", options->number, "The number of the crash")->required();
  command->add_subcommand("clear", "Remove all records");
}

}  // namespace bulkhead::cli
