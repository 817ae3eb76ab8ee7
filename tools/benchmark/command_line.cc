// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/command_line.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

// Returns an error text if the directory of `path` is not writable. A run takes
// minutes, so that a wrong path has to be reported before it.
std::string InWritableDirectory(const std::string& path) {
  const std::string directory =
      std::filesystem::absolute(path).parent_path().string();
  return ::access(directory.c_str(), W_OK) == 0
             ? ""
             : "cannot write to the directory " + directory;
}

// Returns the model name of the processor from /proc/cpuinfo.
std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

}  // namespace

void AddRunOptions(cli::Command& program, RunOptions& options) {
  getloadavg(&options.load_before, 1);
  program
      .AddOption("--rounds", &options.rounds,
                 fmt::format("Rounds, at least 5 (default {})", options.rounds))
      .Range(5, 1000);
  program
      .AddOption("--json FILE", &options.json, "Write the figures to FILE too")
      .Check(InWritableDirectory);
}

void AddFigureOptions(cli::Command& program, RunOptions& options) {
  program.AddOption(
      "--keep FILE", &options.keep,
      "Write the figures to FILE too, all at once, unless --quick");
  program.AddOption("--commit TEXT", &options.commit,
                    "Name this commit in the figures");
  program.AddFlag(
      "--quick", &options.quick,
      "One round of the least that runs every part; the figures mean "
      "nothing");
}

void AddLibexecOption(cli::Command& program, std::string& libexec) {
  program.AddOption("--libexec DIR", &libexec,
                    "The directory of bulkheadd and the programs it starts");
}

std::optional<int> ParseOrExit(cli::Command& program, int argc, char** argv) {
  const Result<bool> parsed = program.Parse(argc, argv);
  if (!parsed) return cli::Fail(parsed.error());
  return *parsed ? std::nullopt : std::optional(0);
}

std::string MachineLine(const std::string& extra) {
  return fmt::format("machine: {}, {} processors{}\n", ProcessorName(),
                     sysconf(_SC_NPROCESSORS_ONLN),
                     extra.empty() ? "" : ", " + extra);
}

nlohmann::ordered_json MachineFacts() {
  return {{"processor", ProcessorName()},
          {"processors", sysconf(_SC_NPROCESSORS_ONLN)}};
}

nlohmann::ordered_json FactsOf(std::span<const Series> series) {
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  for (const Series& one : series) facts.push_back(FactsOf(one));
  return facts;
}

int Publish(std::string_view benchmark, std::span<const Table> tables,
            const RunOptions& options) {
  std::cout << MachineLine(fmt::format("load {:.1f} before the run",
                                       options.load_before))
            << fmt::format("median of {} rounds (lowest-highest)\n",
                           RoundsOf(options));
  nlohmann::ordered_json machine = MachineFacts();
  machine["load_before"] = options.load_before;
  nlohmann::ordered_json facts = {{"benchmark", benchmark},
                                  {"machine", machine},
                                  {"rounds", RoundsOf(options)}};
  if (!options.commit.empty()) facts["commit"] = options.commit;
  facts["tables"] = nlohmann::ordered_json::array();
  for (const Table& table : tables) {
    std::cout << TextOf(table);
    facts["tables"].push_back(FactsOf(table));
  }
  if (!options.keep.empty() && !options.quick) {
    const std::string unfinished = options.keep + ".part";
    const int status = WriteFacts(facts, {.json = unfinished});
    if (status != 0) return status;
    std::error_code error;
    std::filesystem::rename(unfinished, options.keep, error);
    if (error) {
      return cli::Fail(
          Status(Code::kInvalidArgument, "cannot write " + options.keep));
    }
  }
  return WriteFacts(facts, options);
}

int WriteFacts(const nlohmann::ordered_json& facts, const RunOptions& options) {
  if (options.json.empty()) return 0;
  std::ofstream file(options.json);
  file << facts.dump(2) << '\n';
  file.close();
  if (file) return 0;
  return cli::Fail(
      Status(Code::kInvalidArgument, "cannot write " + options.json));
}

}  // namespace bulkhead::benchmark
