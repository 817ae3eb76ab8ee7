// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "core/grants/grant_reader.h"
#include "tools/cli/command_line.h"
#include "tools/cli/facts.h"
#include "tools/cli/operators/grant_options.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kExamples[] = R"(Examples:
  bulkhead grants
  bulkhead grants --json | jq '.grants[] | select(.hash == null)'

`bulkhead backends` shows what a backend gets: a grant applies as far as the
backend asks for it, and to the shared object with the hash in the grant.)";

struct Listing {
  grants::GrantFiles files;
  std::vector<grants::Grant> all;
  Diagnostics diagnostics;
};

Listing List() {
  Listing listing{.files = OurGrantFiles()};
  listing.diagnostics = listing.files.diagnostics;
  for (const grants::GrantFile& file : listing.files.all()) {
    grants::Grants read = grants::ReadGrantFile(file.path);
    std::move(read.grants.begin(), read.grants.end(),
              std::back_inserter(listing.all));
    std::move(read.diagnostics.begin(), read.diagnostics.end(),
              std::back_inserter(listing.diagnostics));
  }
  return listing;
}

Json FactsOf(const Listing& listing) {
  Json files = Json::array();
  for (const grants::GrantFile& file : listing.files.all()) {
    files.push_back({{"path", file.path}, {"origin", file.origin}});
  }
  Json grants = Json::array();
  for (const grants::Grant& grant : listing.all) {
    grants.push_back({
        {"backend", grant.backend},
        {"hash", grant.hash.empty() ? Json() : Json(grant.hash)},
        {"permissions", ToTexts(grant.permissions)},
        {"reserved_name", grant.reserved_name},
        {"file", grant.file},
        {"line", grant.line},
    });
  }
  return Json{{"files", files},
              {"grants", grants},
              {"diagnostics", cli::FactsOf(listing.diagnostics)}};
}

void PrintListing(const Listing& listing) {
  for (const grants::GrantFile& file : listing.files.all()) {
    Print(fmt::format("{} ({})", file.path, file.origin));
    bool any = false;
    for (const grants::Grant& grant : listing.all) {
      if (grant.file != file.path) continue;
      any = true;
      Print(fmt::format("  {} ({})", grant.backend,
                        grant.hash.empty() ? "any file" : grant.hash));
      for (const std::string& text : ToTexts(grant.permissions)) {
        Print("    " + text);
      }
      if (grant.reserved_name) {
        Print("    the name, in place of Bulkhead's own");
      }
    }
    if (!any) Print("  grants nothing");
  }
  Say(listing.diagnostics);
}

int RunGrants(const GlobalOptions&, bool json) {
  const Listing listing = List();
  if (json) return PrintFacts(FactsOf(listing));
  PrintListing(listing);
  return FinishPrinting();
}

}  // namespace

void AddGrantsCommand(Command& program, Invocation& invocation) {
  const auto [command, json] = AddSubcommand<bool>(
      program, invocation, "grants",
      "List all grants and the files they are in", kExamples, RunGrants);
  command.AddFlag("--json", &json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::operators
