// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/benchmark/machine.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {

void AddRunOptions(CLI::App& app, RunOptions& options) {
  app.add_option("--rounds", options.rounds, "Rounds, at least 5 (default 7)")
      ->check(CLI::Range(5, 1000));
  app.add_option("--json", options.json, "Write the figures to FILE too")
      ->type_name("FILE");
}

void AddLibexecOption(CLI::App& app, std::string& libexec) {
  app.add_option("--libexec", libexec,
                 "The directory of bulkheadd and the programs it starts")
      ->type_name("DIR");
}

std::optional<int> ParseOrExit(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return cli::Fail(Status(Code::kInvalidArgument, error.what()));
  }
  return std::nullopt;
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
