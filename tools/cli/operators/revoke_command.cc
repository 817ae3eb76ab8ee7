// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/grants/grant_reader.h"
#include "tools/cli/command_line.h"
#include "tools/cli/operators/grant_options.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/grant_editing/grant_text.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead revoke acme                       revoke all permissions
  bulkhead revoke acme ioctl=drm             revoke one permission
  bulkhead revoke acme --system              edit /etc/bulkhead/grants.toml

Name a permission as `bulkhead grants` lists it. A running backend keeps what it
has until it ends, at the latest with its application.)";

struct RevokeOptions {
  std::string backend;
  std::vector<std::string> permissions;
  bool system = false;
};

// Prints a note for each grant that the backend has in a file other than
// `edited`.
void SayElsewhere(const RevokeOptions& options, const std::string& edited) {
  for (const grants::GrantFile& file : OurGrantFiles().all()) {
    if (file.path == edited) continue;
    for (const auto& grant : grants::ReadGrantFile(file.path).grants) {
      if (grant.backend != options.backend) continue;
      Say(fmt::format("note: {}:{} grants it: {}", file.path, grant.line,
                      fmt::join(ToTexts(grant.permissions), ", ")));
    }
  }
}

int RunRevoke(const GlobalOptions& global, const RevokeOptions& options) {
  const auto permissions = ParsePermissions(options.permissions);
  if (!permissions) return Fail(permissions.error());
  const Result<GrantTarget> target = TargetOf(options.system);
  if (!target) return Fail(target.error());
  const auto less =
      options.permissions.empty() ? std::nullopt : std::optional(*permissions);
  Status written;
  // EditGrantFile would create a missing file; revoking must not.
  const auto before = grants::ReadBelievedFile(target->path);
  if (!before && before.error().code() == Code::kNotFound) {
    written =
        Status(Code::kNotFound, "nothing was granted to " + options.backend +
                                    ": " + target->path + " does not exist");
  } else {
    written = grant_editing::EditGrantFile(
        target->path, target->audience, [&](std::string_view text) {
          return grant_editing::WithoutGrant(text, options.backend, less);
        });
  }
  if (!written.ok() || !global.quiet) SayElsewhere(options, target->path);
  if (!written.ok()) return Fail(written);
  if (!global.quiet) {
    Print(fmt::format("taken from {} in {}: {}", options.backend, target->path,
                      less ? fmt::format("{}", fmt::join(ToTexts(*less), ", "))
                           : "everything"));
  }
  return FinishPrinting();
}

}  // namespace

void AddRevokeCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<RevokeOptions>(
      program, invocation, "revoke",
      "Take away what `bulkhead grant` gave to a backend", kExamples,
      RunRevoke);
  command.AddOption("BACKEND", &options.backend, "The name of the backend")
      .Required();
  command.AddOption(
      "PERMISSION", &options.permissions,
      "What to revoke, such as read=/usr/share/acme (default: all)");
  command.AddFlag("--system", &options.system,
                  "Edit /etc/bulkhead/grants.toml instead of your own file");
}

}  // namespace bulkhead::cli::operators
