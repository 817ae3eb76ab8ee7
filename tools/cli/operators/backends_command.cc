// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/backends_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead backends
  bulkhead backends --search                   also list the places searched
  bulkhead backends --json | jq '.backends[].devices[].name'
  bulkhead --plugin-path ~/my-backends backends

A backend starts when one of its devices is first used.)";

std::string NamesOf(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const DeviceInfo& device : devices) {
    names.push_back(device.description.empty()
                        ? device.name
                        : device.name + " (" + device.description + ")");
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// Returns "video av1 (Main), up to 8192x4320", or only the number of codecs if
// there are many.
std::string Decodes(const StreamCapability& stream) {
  constexpr size_t kFew = 8;
  std::string words = stream.kind + " ";
  words += stream.codecs.size() > kFew
               ? fmt::format("{} codecs", stream.codecs.size())
               : fmt::format("{}", fmt::join(stream.codecs, ", "));
  if (!stream.profiles.empty()) {
    words += fmt::format(" ({})", fmt::join(stream.profiles, ", "));
  }
  if (stream.max_width != 0 || stream.max_height != 0) {
    words += fmt::format(", up to {}x{}", stream.max_width, stream.max_height);
  }
  return words;
}

// Prints the capabilities of the first device.
void PrintCapabilities(const std::vector<DeviceInfo>& devices) {
  constexpr size_t kMost = 8;
  if (devices.empty()) return;
  const auto& streams = devices.front().capabilities.streams;
  if (streams.size() > kMost) {
    size_t codecs = 0;
    for (const StreamCapability& stream : streams) {
      codecs += stream.codecs.size();
    }
    Print(fmt::format("  decodes       {} codecs (--json lists them)", codecs));
    return;
  }
  for (const StreamCapability& stream : streams) {
    Print("  decodes       " + Decodes(stream));
  }
}

std::string Listed(const std::vector<std::string>& permissions) {
  return permissions.empty() ? "nothing"
                             : fmt::format("{}", fmt::join(permissions, ", "));
}

std::string StartOf(const BackendInfo& backend) {
  if (backend.start == "exec") {
    return "exec: each session loads it anew (" + backend.start_reason + ")";
  }
  return "clone: sessions are clones of one process that has loaded it";
}

void PrintPlaces(const std::vector<SearchedPlace>& places) {
  Print("searched in this order, the first match wins:");
  for (const SearchedPlace& place : places) {
    Print(
        fmt::format("  {}  ({}): {}", place.path, place.origin, place.outcome));
  }
}

struct BackendsOptions {
  bool json = false;
  bool search = false;
};

int RunBackends(const GlobalOptions& global, const BackendsOptions& options) {
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  Result<BackendReport> report = (*host)->Backends();
  if (!report) return Fail(report.error());
  if (options.json) return PrintFacts(FactsOf(*report));
  PrintBackends(*report);
  if (options.search) PrintPlaces(report->places);
  return FinishPrinting();
}

}  // namespace

void PrintBackends(const BackendReport& report) {
  if (report.backends.empty()) Say("no backends found");
  for (const BackendInfo& backend : report.backends) {
    std::string state = backend.state;
    if (!backend.reason.empty()) state += ": " + backend.reason;
    Print(backend.name);
    Print("  state         " + state);
    Print("  devices       " + NamesOf(backend.devices));
    Print("  streams       " + Listed(backend.streams));
    PrintCapabilities(backend.devices);
    Print(fmt::format("  distribution  {} {}", backend.distribution,
                      backend.version));
    Print("  file          " + backend.file);
    Print("  start         " + StartOf(backend));
    Print(fmt::format("  sandbox       {}", SandboxTierName(backend.tier)));
    Print("  asks for      " + Listed(backend.asked));
    if (!backend.asked.empty()) {
      Print("  granted       " + Listed(backend.granted));
    }
    if (backend.zygote_pid != 0) {
      Print(fmt::format("  processes     reaper {}, zygote {}, {} sessions",
                        backend.reaper_pid, backend.zygote_pid,
                        backend.session_pids.size()));
    }
  }
  Say(report.diagnostics);
}

void AddBackendsCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<BackendsOptions>(
      program, invocation, "backends",
      "List the backends, their devices and their state", kExamples,
      RunBackends);
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
  command.AddFlag("--search", &options.search,
                  "List each place searched, and what was found there");
}

}  // namespace bulkhead::cli::operators
