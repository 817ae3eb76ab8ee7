// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/host.h"

#include <utility>

#include "core/discovery/environment.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/selection.h"
#include "core/session/supervisor_link.h"
#include "core/session/video_session.h"
#include "core/status_macros.h"

namespace bulkhead {
namespace {

constexpr const char* kFloorVariable = "BULKHEAD_SANDBOX_FLOOR";
constexpr const char* kLibexecVariable = "BULKHEAD_LIBEXEC_DIR";
constexpr const char* kDefaultLibexec = "/usr/lib/bulkhead/libexec";

Result<SandboxTier> FloorOf(const HostOptions& options,
                            const discovery::Environment& environment) {
  if (options.sandbox_floor) return *options.sandbox_floor;
  const auto text = environment.Get(kFloorVariable);
  if (!text || *text == "full") return SandboxTier::kFull;
  if (*text == "reduced") return SandboxTier::kReduced;
  return Status(Code::kInvalidArgument, std::string(kFloorVariable) + " is \"" +
                                            *text +
                                            "\"; it must be full or reduced");
}

Result<discovery::Selection> SelectionOf(
    const HostOptions& options, const discovery::Environment& environment) {
  discovery::Selection selection;
  // An option overrules its variable, also one that is wrong.
  if (!options.autoload || !options.backends || !options.backends_disable) {
    ASSIGN_OR_RETURN(selection,
                     discovery::Selection::FromEnvironment(environment));
  }
  if (options.autoload) {
    selection.autoload = *options.autoload;
    selection.autoload_rule = "HostOptions::autoload";
  }
  if (options.backends) {
    selection.enabled = *options.backends;
    selection.enabled_rule = "HostOptions::backends";
  }
  if (options.backends_disable) {
    selection.disabled = *options.backends_disable;
    selection.disabled_rule = "HostOptions::backends_disable";
  }
  return selection;
}

}  // namespace

const char* SandboxTierName(SandboxTier tier) {
  switch (tier) {
    case SandboxTier::kFull:
      return "full";
    case SandboxTier::kReduced:
      return "reduced";
    case SandboxTier::kNone:
      break;
  }
  return "none";
}

Result<std::unique_ptr<Host>> Host::Create(HostOptions options) {
  const auto environment = discovery::Environment::FromProcess();
  session::SupervisorSettings settings;
  settings.libexec_dir =
      !options.libexec_dir.empty()
          ? options.libexec_dir
          : environment.Get(kLibexecVariable).value_or(kDefaultLibexec);
  ASSIGN_OR_RETURN(settings.floor, FloorOf(options, environment));
  ASSIGN_OR_RETURN(settings.selection, SelectionOf(options, environment));
  const std::string built_in = settings.libexec_dir + "/backends";
  if (options.plugin_path) {
    for (const std::string& path : *options.plugin_path) {
      settings.plugin_path.push_back({path, "HostOptions::plugin_path"});
    }
    settings.plugin_path.push_back({built_in, "built in", true});
  } else {
    settings.plugin_path =
        discovery::ResolvePluginPath(environment, {built_in}).directories;
  }
  settings.deadlines = options.deadlines;
  ASSIGN_OR_RETURN(auto link,
                   session::SupervisorLink::Start(std::move(settings)));
  return std::unique_ptr<Host>(new Host(std::move(options), std::move(link)));
}

Host::Host(HostOptions options, std::shared_ptr<session::SupervisorLink> link)
    : options_(std::move(options)), link_(std::move(link)) {}

Host::~Host() = default;

Result<VideoDecoder> Host::OpenVideo(const std::string& path,
                                     VideoOptions options) {
  ASSIGN_OR_RETURN(auto session,
                   session::VideoSession::Open(link_, path, std::move(options),
                                               options_.limits));
  return VideoDecoder(std::move(session));
}

Result<BackendReport> Host::Backends() { return link_->Backends(); }
Result<SandboxReport> Host::Sandbox() { return link_->Sandbox(); }
int Host::supervisor_pid() const { return link_->pid(); }

}  // namespace bulkhead
