// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "core/base/digest.h"
#include "core/base/status_macros.h"
#include "ipc/unique_fd.h"
#include "tools/cli/command_line.h"
#include "tools/cli/operators/grant_options.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/grant_editing/grant_text.h"

namespace bulkhead::cli::operators {
namespace {

using grants::Permissions;

constexpr char kExamples[] = R"(Examples:
  bulkhead grant acme read=/usr/share/acme ioctl=drm
  bulkhead grant acme device=/dev/dri/renderD128 memory=8G threads=64
  bulkhead grant acme --all                  grant all that it asks for, list it
  bulkhead backends                          list what each backend asks for

  device=GLOB   nodes of character devices below /dev that the backend opens
                while it loads
  read=PATH     a file, or a directory with all below it, to read
  ioctl=FAMILY  drm, v4l2, nvidia, dma-buf, ...
  memory=SIZE   address space of each process: 8G
  threads=N     processes and threads together

No permission lets a backend write to a file. A grant holds for the shared object
that the backend has now, by its hash: grant again after an update. It takes
effect at the next start of the backend.)";

struct GrantOptions {
  std::string backend;
  std::vector<std::string> permissions;
  bool all = false;
  bool any_hash = false;
  bool system = false;
  bool force = false;
};

Result<BackendInfo> FindBackend(const GlobalOptions& global,
                                const std::string& name) {
  ASSIGN_OR_RETURN(const auto host, Host::Create(HostOptionsFrom(global)));
  ASSIGN_OR_RETURN(BackendReport report, host->Backends());
  std::string known;
  for (BackendInfo& backend : report.backends) {
    if (backend.name == name) return std::move(backend);
    known += (known.empty() ? "" : ", ") + backend.name;
  }
  return Status(Code::kNotFound,
                fmt::format("there is no backend {}; there are: {}", name,
                            known.empty() ? "none" : known));
}

// Returns the hash of a shared object in the form "sha256=..." that grants
// have.
Result<std::string> HashOf(const std::string& path) {
  const ipc::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Digest digest(HashAlgorithm::kSha256);
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t bytes =
        file ? read(file.get(), piece.data(), piece.size()) : -1;
    if (bytes < 0 && file && errno == EINTR) continue;
    if (bytes < 0) {
      return Status(Code::kNotFound,
                    fmt::format("cannot read {}: {}", path,
                                std::generic_category().message(errno)));
    }
    if (bytes == 0) return "sha256=" + digest.Finish();
    digest.Append(std::span(piece).first(static_cast<size_t>(bytes)));
  }
}

std::string Listed(const Permissions& permissions) {
  const auto texts = ToTexts(permissions);
  return texts.empty() ? "nothing" : fmt::format("{}", fmt::join(texts, ", "));
}

// Returns the permissions to grant: those named on the command line and, with
// --all, those that the backend asks for. Without --force, a permission that
// the backend does not ask for is an error.
Result<Permissions> Wanted(const GrantOptions& options,
                           const Permissions& asked) {
  Result<Permissions> wanted = ParsePermissions(options.permissions);
  if (!wanted) return wanted;
  if (options.all) Add(asked, *wanted);
  const std::string& name = options.backend;
  if (wanted->empty()) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} asks for {}{}", name, Listed(asked),
                    asked.empty() ? "; there is nothing to grant"
                                  : "; name what to grant, or add --all"));
  }
  const Permissions beyond = Beyond(*wanted, asked);
  if (beyond.empty() || options.force) return wanted;
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} does not ask for {} and would not get it: it asks for "
                  "{}. Add --force to write it down all the same",
                  name, Listed(beyond), Listed(asked)));
}

int RunGrant(const GlobalOptions& global, const GrantOptions& options) {
  // Parsed before FindBackend() starts a supervisor, so that a typing error is
  // reported at once.
  if (const auto words = ParsePermissions(options.permissions); !words) {
    return Fail(words.error());
  }
  const Result<GrantTarget> target = TargetOf(options.system);
  if (!target) return Fail(target.error());
  const Result<BackendInfo> backend = FindBackend(global, options.backend);
  if (!backend) return Fail(backend.error());
  const Result<Permissions> asked = ParsePermissions(backend->asked);
  if (!asked) return Fail(asked.error());
  const Result<Permissions> wanted = Wanted(options, *asked);
  if (!wanted) return Fail(wanted.error());
  const Result<std::string> hash =
      options.any_hash ? Result<std::string>("") : HashOf(backend->file);
  if (!hash) return Fail(hash.error());
  const Status written = grant_editing::EditGrantFile(
      target->path, target->audience, [&](std::string_view text) {
        return grant_editing::WithGrant(text, backend->name, *hash, *wanted);
      });
  if (!written.ok()) return Fail(written);
  if (!global.quiet) {
    Print(fmt::format("{} ({} {}, {}) may from now on have:", backend->name,
                      backend->distribution, backend->version,
                      options.any_hash ? "any file" : backend->file));
    for (const std::string& text : ToTexts(*wanted)) Print("  " + text);
    Print("written to " + target->path);
  }
  return FinishPrinting();
}

}  // namespace

void AddGrantCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<GrantOptions>(
      program, invocation, "grant",
      "Grant a backend devices, files or resources it asks for", kExamples,
      RunGrant);
  command.AddOption("BACKEND", &options.backend, "The name of the backend")
      .Required();
  command.AddOption("PERMISSION", &options.permissions,
                    "What to grant, such as read=/usr/share/acme");
  command.AddFlag("--all", &options.all, "Grant all that the backend asks for");
  command.AddFlag("--any-hash", &options.any_hash,
                  "Grant for any shared object, also after an update");
  command.AddFlag("--system", &options.system,
                  "Grant for all users, in /etc/bulkhead/grants.toml");
  command.AddFlag("--force", &options.force,
                  "Grant also what the backend does not ask for");
}

}  // namespace bulkhead::cli::operators
