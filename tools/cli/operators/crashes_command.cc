// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/crashes.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/crashes/crash_json.h"
#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/operators/crash_text.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
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
  // The chosen subcommand: RunList, RunShow or RunClear.
  int (*run)(const CrashesOptions& options) = nullptr;
};

Json FactsOfCrash(const Crash& crash, const CrashesOptions& options) {
  return options.with_media_text ? crashes::ToJson(crash)
                                 : crashes::ToJsonWithoutMediaText(crash);
}

void PrintList(const CrashList& list) {
  if (list.crashes.empty()) Say("there are no records of crashes");
  uint64_t unrecorded = 0;
  for (const Crash& crash : list.crashes) {
    unrecorded += crash.unrecorded;
    Print(LineOf(crash));
    if (crash.unrecorded == 0) continue;
    Print(fmt::format("       around it: {} more that were not recorded",
                      crash.unrecorded));
  }
  if (unrecorded > 0) {
    Print(fmt::format("{} crashes are recorded, {} were not",
                      list.crashes.size(), unrecorded));
  }
  Say(list.diagnostics);
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
  for (const std::string& line : LinesOf(*crash)) Print(line);
  return FinishPrinting();
}

int RunClear(const CrashesOptions&) {
  const Status cleared = ClearCrashes();
  return cleared.ok() ? 0 : Fail(cleared);
}

}  // namespace

void AddCrashesCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<CrashesOptions>(
      program, invocation, "crashes", "Show how processes of backends crashed",
      kExamples, [](const GlobalOptions&, const CrashesOptions& chosen) {
        return chosen.run(chosen);
      });
  options.run = RunList;
  command.TakeOneSubcommand();
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
  command.AddFlag("--with-media-text", &options.with_media_text,
                  "With --json: also what processes wrote since they had "
                  "media, which may contain parts of it");
  Command& show = command.AddSubcommand("show", "Show all of one record");
  show.OnChosen([&options = options] { options.run = RunShow; });
  show.AddOption("N", &options.number, "The number of the crash").Required();
  command.AddSubcommand("clear", "Remove all records")
      .OnChosen([&options = options] { options.run = RunClear; });
}

}  // namespace bulkhead::cli::operators
