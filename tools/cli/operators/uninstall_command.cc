// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/install/installation.h"
#include "tools/install/plugin_directory.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;
using install::Removal;

constexpr char kExamples[] = R"(Examples:
  bulkhead uninstall acme
  bulkhead uninstall acme --from ~/backends
  bulkhead backends                          list NAMEs, as `distribution`

NAME is the name of the distribution in any spelling (acme-codec, Acme_Codec).
Without --from, removes it from the directory into which `bulkhead install`
installs. Removes the files that RECORD lists, and folders that are empty then;
files of other distributions stay.)";

struct UninstallOptions {
  std::string name;
  std::string from;
  bool json = false;
};

Json RemovalFacts(const Removal& done) {
  return Json{
      {"name", done.name},
      {"version", done.version},
      {"directory", done.directory},
      {"files", done.files},
      {"diagnostics", FactsOf(done.diagnostics)},
  };
}

int RunUninstall(const GlobalOptions& global, const UninstallOptions& options) {
  const auto environment = Environment::FromProcess();
  const Result<std::string> directory =
      install::PluginDirectory(options.from, environment, geteuid());
  if (!directory) return Fail(directory.error());
  const Result<Removal> done = install::Uninstall(options.name, *directory);
  if (!done) return Fail(done.error());
  if (options.json) return PrintFacts(RemovalFacts(*done));
  if (global.quiet) return 0;
  Print(fmt::format("removed {} {} from {}", done->name, done->version,
                    done->directory));
  Say(done->diagnostics);
  return FinishPrinting();
}

}  // namespace

void AddUninstallCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<UninstallOptions>(
      program, invocation, "uninstall", "Remove an installed distribution",
      kExamples, RunUninstall);
  command.AddOption("NAME", &options.name, "The name of the distribution")
      .Required();
  command.AddOption("--from DIR", &options.from,
                    "The plugin directory that contains it");
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::operators
