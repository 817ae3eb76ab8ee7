// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "tools/benchmark/command_line.h"
#include "tools/benchmark/growth.h"
#include "tools/benchmark/table.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures how cost grows: with 1 to 1,000 sessions at once (memory of
application, bulkheadd and workers together, descriptors, the start of one, frames in
turn), with 1 to 500 installed backends, and with a file of 1 to 100 s; beside libav
in this process and importlib.metadata. A row that a limit does not allow says so.)";

// Raises the soft limit of descriptors to the hard one.
void RaiseDescriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Run(int argc, char** argv) {
  GrowthOptions options{.run = {.rounds = 5}, .host = {}};
  std::string libexec;
  bool raise_descriptors = false;
  cli::Command program("bench --growth", kPurpose);
  AddRunOptions(program, options.run);
  AddFigureOptions(program, options.run);
  program
      .AddOption("--most-sessions N", &options.most_sessions,
                 "Leave out larger numbers of sessions (default 1000)")
      .Range(1, 1000);
  program.AddFlag(
      "--raise-descriptors", &raise_descriptors,
      "Raise the soft limit of descriptors to the hard limit first");
  AddLibexecOption(program, libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  if (raise_descriptors) RaiseDescriptors();
  options.host.libexec_dir = cli::FindLibexec(libexec);
  std::vector<Table> tables;
  for (const auto measure :
       {&MeasureSessions, &MeasureBackends, &MeasureLengths}) {
    Result<Table> table = measure(options);
    if (!table) return cli::Fail(table.error());
    tables.push_back(*std::move(table));
  }
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  tables.front().notes.push_back(fmt::format(
      "the soft limit of descriptors is {}{}", limit.rlim_cur,
      raise_descriptors ? ", raised" : "; --raise-descriptors raises it"));
  return Publish("growth", tables, options.run);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
