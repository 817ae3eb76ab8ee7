// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/host.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "core/application/api/host_option_check.h"
#include "core/application/api/installed_place.h"
#include "core/application/api/refuse_inside_backend.h"
#include "core/application/api/state_path.h"
#include "core/application/session/audio_session.h"
#include "core/application/session/probe_session.h"
#include "core/application/session/video_session.h"
#include "core/application/supervisor_link/installed_programs.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/base/device_name.h"
#include "core/base/environment.h"
#include "core/base/status_macros.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/plugin_path.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"
#include "core/grants/grant_files.h"
#include "core/worker_protocol/allowed_media.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead {
namespace {

using Command = ipc::schema::BackendCommand::Action;
using supervisor_link::CancelSignal;

constexpr const char* kFloorVariable = "BULKHEAD_SANDBOX_FLOOR";
constexpr const char* kCgroupVariable = "BULKHEAD_CGROUP";
constexpr const char* kRequireCgroupVariable = "BULKHEAD_REQUIRE_MEMORY_CGROUP";
constexpr const char* kLibexecVariable = "BULKHEAD_LIBEXEC_DIR";

// Each of the following functions resolves one setting. An option takes
// precedence over the environment variable, and the variable over the default.

Result<SandboxTier> FloorOf(const HostOptions& options,
                            const Environment& environment) {
  if (options.sandbox_floor) return *options.sandbox_floor;
  const auto text = environment.Get(kFloorVariable);
  if (!text || *text == "full") return SandboxTier::kFull;
  if (*text == "reduced") return SandboxTier::kReduced;
  return Status(Code::kInvalidArgument, std::string(kFloorVariable) + " is \"" +
                                            *text +
                                            "\"; it must be full or reduced");
}

Result<std::string> CgroupOf(const HostOptions& options,
                             const Environment& environment) {
  // The caller of a privileged program may not choose the cgroup.
  if (grants::IsPrivileged()) return std::string();
  const std::string directory =
      options.cgroup ? *options.cgroup
                     : environment.Get(kCgroupVariable).value_or("");
  if (directory.empty() || directory.starts_with('/')) return directory;
  return Status(Code::kInvalidArgument,
                (options.cgroup ? "option cgroup" : kCgroupVariable) +
                    (" is \"" + directory + "\"; it must be absolute"));
}

Result<bool> RequiresMemoryCgroup(const HostOptions& options,
                                  const Environment& environment) {
  if (options.require_memory_cgroup) return *options.require_memory_cgroup;
  const std::string text =
      environment.Get(kRequireCgroupVariable).value_or("0");
  if (text == "0" || text == "1") return text == "1";
  return Status(Code::kInvalidArgument, std::string(kRequireCgroupVariable) +
                                            " is \"" + text +
                                            "\"; it must be 0 or 1");
}

std::string LibexecOf(const HostOptions& options,
                      const Environment& environment) {
  if (!options.libexec_dir.empty()) return options.libexec_dir;
  const auto directory = environment.Get(kLibexecVariable);
  return directory && !directory->empty() ? *directory : InstalledLibexec();
}

discovery::PluginPath PluginPathOf(const HostOptions& options,
                                   const Environment& environment,
                                   const std::string& libexec) {
  return discovery::ResolvePluginPath(environment, {libexec + "/backends"},
                                      {.add_path = options.plugin_add_path,
                                       .path = options.plugin_path,
                                       .last_path = options.plugin_last_path});
}

EntryPointReport ReadEntryPoints(discovery::PluginPath path) {
  discovery::Scan scan = discovery::ScanPluginPath(path.directories);
  EntryPointReport report;
  std::vector<EntryPoint> entry_points;
  for (discovery::Distribution& distribution : scan.distributions) {
    std::move(distribution.entry_points.begin(),
              distribution.entry_points.end(),
              std::back_inserter(entry_points));
  }
  report.entry_points = EntryPoints(std::move(entry_points));
  report.diagnostics = std::move(path.diagnostics);
  std::move(scan.diagnostics.begin(), scan.diagnostics.end(),
            std::back_inserter(report.diagnostics));
  for (const discovery::SearchedPlace& place : scan.places) {
    report.places.push_back(
        {place.directory.path, place.directory.origin, place.outcome});
  }
  return report;
}

Result<discovery::Selection> SelectionOf(const HostOptions& options,
                                         const Environment& environment) {
  ASSIGN_OR_RETURN(
      discovery::Selection selection,
      discovery::Selection::FromEnvironment(environment, options.autoload));
  if (options.backends) {
    selection.enabled = *options.backends;
    selection.enabled_rule = "option backends";
  }
  if (options.backends_disable) {
    selection.disabled = *options.backends_disable;
    selection.disabled_rule = "option backends_disable";
  }
  if (options.backends_exec) {
    selection.exec = *options.backends_exec;
    selection.exec_rule = "option backends_exec";
  }
  return selection;
}

}  // namespace

std::string ProgramsDirectory(const HostOptions& options) {
  return LibexecOf(options, Environment::FromProcess());
}

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

EntryPointReport FindEntryPoints(const HostOptions& options) {
  const auto environment = Environment::FromProcess();
  return ReadEntryPoints(
      PluginPathOf(options, environment, LibexecOf(options, environment)));
}

EntryPointReport FindEntryPoints(const std::vector<std::string>& directories) {
  discovery::PluginPath path;
  for (const std::string& directory : directories) {
    path.directories.push_back({directory, "named by the caller"});
  }
  return ReadEntryPoints(std::move(path));
}

Result<std::unique_ptr<Host>> Host::Create(HostOptions options) {
  RETURN_IF_ERROR(RefuseInsideBackend());
  RETURN_IF_ERROR(CheckLimits(options.limits));
  RETURN_IF_ERROR(CheckDeadlines(options.deadlines));
  if (options.shadow) RETURN_IF_ERROR(CheckShadow(*options.shadow));
  const auto environment = Environment::FromProcess();
  supervisor_link::SupervisorSettings settings;
  settings.programs =
      supervisor_link::InstalledPrograms(LibexecOf(options, environment));
  ASSIGN_OR_RETURN(settings.floor, FloorOf(options, environment));
  ASSIGN_OR_RETURN(settings.cgroup, CgroupOf(options, environment));
  ASSIGN_OR_RETURN(settings.require_memory_cgroup,
                   RequiresMemoryCgroup(options, environment));
  ASSIGN_OR_RETURN(settings.selection, SelectionOf(options, environment));
  if (const auto device = ParseDeviceName(options.default_device); !device) {
    return Status(device.error().code(),
                  "option default_device: " + device.error().message());
  }
  settings.plugin_path =
      PluginPathOf(options, environment, settings.programs.directory());
  settings.grant_files = grants::ResolveGrantFiles(environment, options.grants,
                                                   grants::IsPrivileged());
  ASSIGN_OR_RETURN(
      settings.state_directory,
      ResolveStatePath(environment, options.state_directory, ::geteuid() == 0));
  RETURN_IF_ERROR(worker_protocol::ValidateAllowed(options.allowed)
                      .WithContext("option allowed"));
  settings.eager = options.eager;
  settings.deadlines = options.deadlines;
  settings.limits = options.limits;
  settings.shadow = options.shadow;
  settings.on_event = options.on_event;
  ASSIGN_OR_RETURN(auto link,
                   supervisor_link::SupervisorLink::Start(std::move(settings)));
  return std::unique_ptr<Host>(new Host(std::move(options), std::move(link)));
}

Host::Host(HostOptions options,
           std::shared_ptr<supervisor_link::SupervisorLink> link)
    : options_(std::move(options)), link_(std::move(link)) {}

Host::~Host() = default;

template <typename Options>
Status Host::Complete(Options& options) const {
  if (options.device.empty()) options.device = options_.default_device;
  RETURN_IF_ERROR(worker_protocol::ValidateAllowed(options.allowed));
  options.allowed = worker_protocol::Both(options_.allowed, options.allowed);
  return Status();
}

Result<VideoDecoder> Host::OpenVideo(const Source& source,
                                     VideoOptions options) {
  RETURN_IF_ERROR(Complete(options));
  ASSIGN_OR_RETURN(auto session,
                   session::VideoSession::Open(
                       link_, source, std::move(options), options_.limits));
  return VideoDecoder(std::move(session));
}

Result<AudioDecoder> Host::OpenAudio(const Source& source,
                                     AudioOptions options) {
  RETURN_IF_ERROR(Complete(options));
  ASSIGN_OR_RETURN(auto session,
                   session::AudioSession::Open(
                       link_, source, std::move(options), options_.limits));
  return AudioDecoder(std::move(session));
}

Result<ContainerMetadata> Host::Probe(const Source& source,
                                      ProbeOptions options) {
  RETURN_IF_ERROR(Complete(options));
  return session::ProbeSession::Run(link_, source, options, options_.limits);
}

Status Host::Prewarm(const std::string& device,
                     const std::optional<Cancellation>& cancellation) {
  return link_->Prepare(device, CancelSignal::In(cancellation));
}

Result<std::vector<DeviceInfo>> Host::LoadBackend(
    const std::string& path, const std::optional<Cancellation>& cancellation) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  if (error) {
    return Status(Code::kInvalidArgument, "cannot load a backend from \"" +
                                              path + "\": " + error.message());
  }
  return link_->Load({absolute, ""}, CancelSignal::In(cancellation));
}

Result<std::vector<DeviceInfo>> Host::LoadBackend(
    const EntryPoint& entry_point,
    const std::optional<Cancellation>& cancellation) {
  if (entry_point.group != discovery::kBackendGroup) {
    return Status(Code::kInvalidArgument,
                  "the entry point " + entry_point.name + " of group \"" +
                      entry_point.group +
                      "\" is no backend: those are of "
                      "group " +
                      std::string(discovery::kBackendGroup));
  }
  const std::filesystem::path file(entry_point.file);
  return link_->Load({file.parent_path().string(), entry_point.name},
                     CancelSignal::In(cancellation));
}

Result<std::vector<DeviceInfo>> Host::Devices(
    const std::optional<Cancellation>& cancellation) {
  ASSIGN_OR_RETURN(BackendReport report,
                   link_->Backends(CancelSignal::In(cancellation)));
  std::vector<DeviceInfo> devices;
  for (BackendInfo& backend : report.backends) {
    std::move(backend.devices.begin(), backend.devices.end(),
              std::back_inserter(devices));
  }
  return devices;
}

Status Host::Restart(const std::string& backend,
                     const std::optional<Cancellation>& cancellation) {
  return link_->Command(backend, Command::RESTART,
                        CancelSignal::In(cancellation));
}

Status Host::Reload(const std::string& backend,
                    const std::optional<Cancellation>& cancellation) {
  return link_->Command(backend, Command::RELOAD,
                        CancelSignal::In(cancellation));
}

Status Host::Disable(const std::string& backend,
                     const std::optional<Cancellation>& cancellation) {
  return link_->Command(backend, Command::DISABLE,
                        CancelSignal::In(cancellation));
}

Status Host::Enable(const std::string& backend,
                    const std::optional<Cancellation>& cancellation) {
  return link_->Command(backend, Command::ENABLE,
                        CancelSignal::In(cancellation));
}

Result<BackendReport> Host::Backends(
    const std::optional<Cancellation>& cancellation) {
  return link_->Backends(CancelSignal::In(cancellation));
}
Result<SandboxReport> Host::Sandbox(
    const std::optional<Cancellation>& cancellation) {
  return link_->Sandbox(CancelSignal::In(cancellation));
}
int Host::supervisor_pid() const { return link_->pid(); }

}  // namespace bulkhead
