// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/clean_text.h"
#include "core/exit_report.h"
#include "core/from_ipc.h"
#include "core/sandbox/launcher.h"
#include "core/sandbox/lockdown.h"
#include "core/status_macros.h"
#include "core/supervisor/object_verification.h"
#include "ipc/capnp_read.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

constexpr size_t kMaxDevices = 64;
constexpr size_t kMaxReasonBytes = 512;
constexpr size_t kMaxDescriptionBytes = 200;
// A start that failed is tried again at the earliest after 0.1 s, then 0.2 s,
// up to 12.8 s: quick for what was repaired, cheap for what was not.
constexpr kj::Duration kFirstBackoff = 100 * kj::MILLISECONDS;
constexpr uint32_t kMaxBackoffDoublings = 7;
// Its socket closes a moment before its end is reported.
constexpr milliseconds kProbeEndPatience{500};
// Its socket, five of its memory and media, and what a scan opens.
constexpr uint64_t kDescriptorsPerSession = 10;

std::string DeviceText(const std::string& name, uint32_t index) {
  return name + ":" + std::to_string(index);
}

Result<ipc::UniqueFd> OpenProgram(const std::string& path) {
  ipc::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    return Status(Code::kNotFound,
                  "cannot open " + path + ": " +
                      std::generic_category().message(errno) +
                      "; set BULKHEAD_LIBEXEC_DIR to where it is");
  }
  return fd;
}

}  // namespace

Backend::Backend(discovery::BackendCandidate candidate, unsigned number,
                 const StartContext& context)
    : candidate_(std::move(candidate)),
      number_(number),
      context_(context),
      retry_at_(context.port.getTimer().now()),
      workers_(context.worker_deadline) {
  if (!candidate_.usable()) reason_ = candidate_.reason;
}

Backend::State Backend::state() const {
  if (!candidate_.usable()) return State::kDisabled;
  if (is_starting_) return State::kStarting;
  if (current_ && current_->zygote_alive()) return State::kReady;
  return failures_ > 0 ? State::kBackingOff : State::kDiscovered;
}

std::vector<Backend::DescribedDevice> Backend::devices() const {
  std::vector<DescribedDevice> described;
  const auto add = [&](const std::string& name, const std::string& words) {
    described.push_back({discovery::CallersName(candidate_, name), words});
  };
  for (const Device& device : devices_) {
    add(DeviceText(device.name, device.index), device.description);
  }
  if (!devices_.empty()) return described;
  for (const std::string& name : candidate_.manifest.devices) add(name, "");
  return described;
}

bool Backend::running() const {
  return is_starting_ || workers_.busy() ||
         (current_ && current_->zygote_alive());
}

kj::Promise<Result<Backend::StartedSession>> Backend::OpenSession(
    uint64_t id, const discovery::DeviceName& device, bool alone,
    ipc::UniqueFd socket) {
  using Started = Result<StartedSession>;
  const auto placing = !alone && SharesWorker() ? Workers::Placing::kShared
                                                : Workers::Placing::kAlone;
  return EnsureReady().then([this, id, device, placing,
                             socket = std::move(socket)](
                                Status ready) mutable -> kj::Promise<Started> {
    if (!ready.ok()) return Started(std::move(ready));
    auto found = FindDevice(device);
    if (!found) return Started(std::move(found).error());
    return workers_.Serve(id, placing, current_, std::move(socket))
        .then([id, placing, device = *found](auto pidfd) -> Started {
          if (!pidfd) return std::move(pidfd).error();
          return StartedSession{.id = id,
                                .device_ordinal = device.ordinal,
                                .device = DeviceText(device.name, device.index),
                                .pidfd = *pidfd,
                                .shared = placing == Workers::Placing::kShared};
        });
  });
}

bool Backend::SharesWorker() const {
  return candidate_.manifest.worker_scope ==
         discovery::Manifest::WorkerScope::kBackend;
}

kj::Promise<WorkerEnd> Backend::SessionEnd(uint64_t id, milliseconds timeout) {
  return workers_.AwaitEnd(id, timeout);
}

void Backend::CloseSession(uint64_t id) { workers_.Close(id); }

kj::Promise<Status> Backend::EnsureReady() {
  if (!candidate_.usable()) {
    return Status(Code::kBackendUnavailable, candidate_.reason);
  }
  if (is_starting_) {
    return KJ_ASSERT_NONNULL(starting_).addBranch();
  }
  if (current_ && current_->zygote_alive()) return Status();
  if (failures_ > 0 && context_.port.getTimer().now() < retry_at_ &&
      Granted().effective == started_with_) {
    return last_failure_;
  }
  is_starting_ = true;
  auto forked = Start()
                    .then([this](Status status) {
                      is_starting_ = false;
                      if (status.ok()) {
                        failures_ = 0;
                        reason_.clear();
                        return status;
                      }
                      return StartFailed(status);
                    })
                    .fork();
  auto branch = forked.addBranch();
  starting_ = kj::mv(forked);
  return branch;
}

Status Backend::StartFailed(const Status& cause) {
  std::string text = cause.message();
  if (current_ && !current_->log_tail().empty()) {
    text += "; it wrote: " + current_->log_tail();
  }
  current_.reset();
  const auto missing =
      Missing(candidate_.manifest.permissions, Granted().effective);
  if (!missing.empty()) {
    text += "; it asks for what nobody granted: bulkhead grant " +
            candidate_.name() + " " + ToArguments(missing);
  }
  reason_ = text;
  const uint32_t doublings = std::min(failures_++, kMaxBackoffDoublings);
  retry_at_ =
      context_.port.getTimer().now() + kFirstBackoff * (1u << doublings);
  const Code code = cause.code() == Code::kSandboxUnavailable ||
                            cause.code() == Code::kNotFound
                        ? cause.code()
                        : Code::kBackendUnavailable;
  EntryPoint entry_point = candidate_.entry_point;
  entry_point.file = candidate_.directory + "/" + candidate_.plugin_path;
  last_failure_ =
      Status(code, discovery::LoadFailureMessage(entry_point, text));
  return last_failure_;
}

kj::Promise<Status> Backend::Prepare(const discovery::DeviceName& device) {
  return EnsureReady().then([this, device](Status ready) -> Status {
    if (!ready.ok()) return ready;
    const auto found = FindDevice(device);
    return found ? Status() : found.error();
  });
}

Granting Backend::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(), hash_verdicts_);
}

std::vector<std::string> Backend::DescribeGrants(
    Diagnostics& diagnostics) const {
  const Granting granting = Granted();
  if (!candidate_.usable()) return GrantedTexts(granting);
  diagnostics.insert(diagnostics.end(), granting.diagnostics.begin(),
                     granting.diagnostics.end());
  const std::string manifest = candidate_.dist_info + "/bulkhead.toml";
  std::vector<std::string> problems;
  for (const auto& path : Resolve(granting.effective, problems).paths) {
    if (!context_.own_uid || path.open_to_all) continue;
    problems.push_back(path.path +
                       " is not open to all, and backends have a uid of "
                       "their own when started as root; see chmod, or start "
                       "as another user");
  }
  for (const std::string& problem : problems) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, manifest, 0,
         "the backend " + candidate_.name() +
             " does not get all that was granted: " + problem});
  }
  if (!current_ || !current_->zygote_alive()) return GrantedTexts(granting);
  if (granting.effective != started_with_) {
    diagnostics.push_back({Diagnostic::Severity::kNote, manifest, 0,
                           "the grants of the backend " + candidate_.name() +
                               " have changed since it was started; they "
                               "count from its next start"});
  }
  return ToTexts(started_with_);
}

kj::Promise<void> Backend::VerifyGrants(int object,
                                        std::vector<std::string> hashes) {
  if (hashes.empty()) return kj::READY_NOW;
  return VerifyObject(context_.port.getTimer(), object, hashes.back())
      .then([this, object, hashes](Status verified) mutable {
        hash_verdicts_[hashes.back()] = verified.ok();
        hashes.pop_back();
        return VerifyGrants(object, std::move(hashes));
      });
}

kj::Promise<Status> Backend::Start() {
  hash_verdicts_.clear();
  started_with_ = Granted().effective;
  auto opened = discovery::OpenBackend(candidate_);
  if (!opened) return std::move(opened).error();
  const int object = opened->plugin.get();
  return VerifyObject(context_.port.getTimer(), object, candidate_.plugin_hash)
      .then([this, object](Status verified) -> kj::Promise<Status> {
        if (!verified.ok()) return verified;
        return VerifyGrants(object, Granted().unverified).then([] {
          return Status();
        });
      })
      .then([this, opened = *std::move(opened)](
                Status verified) -> kj::Promise<Status> {
        if (!verified.ok()) return verified;
        auto launched = Launch(opened);
        if (!launched) return std::move(launched).error();
        std::shared_ptr<Incarnation> incarnation = *std::move(launched);
        current_ = incarnation;
        ++lives_;
        return incarnation->AwaitReady(context_.start_deadline)
            .then([this, incarnation](Status status) -> kj::Promise<Status> {
              if (!status.ok()) return status;
              return Probe(incarnation);
            });
      });
}

Result<std::shared_ptr<Incarnation>> Backend::Launch(
    const discovery::OpenedBackend& opened) {
  ASSIGN_OR_RETURN(const ipc::UniqueFd reaper,
                   OpenProgram(context_.reaper_path));
  ASSIGN_OR_RETURN(const ipc::UniqueFd worker,
                   OpenProgram(context_.worker_path));
  sandbox::Plugin plugin{
      .object_path = candidate_.directory + "/" + candidate_.plugin_path,
      .entry_symbol = candidate_.entry_point.attr};
  for (const std::string& path : candidate_.visible_paths) {
    plugin.files.push_back(candidate_.directory + "/" + path);
  }
  started_with_ = Granted().effective;
  std::vector<std::string> problems;  // DescribeGrants tells them
  const sandbox::Grants grants = Resolve(started_with_, problems);
  ASSIGN_OR_RETURN(sandbox::Policy policy, sandbox::MakePolicy(plugin, grants));
  if (SharesWorker()) {
    // What one session may take is nothing beside what all of them need.
    policy.limits.open_files +=
        Workers::kMaxSessionsPerWorker * kDescriptorsPerSession;
    policy.limits.address_space_bytes *= 4;
  }
  sandbox::RaiseLimits(grants, policy.limits);
  ASSIGN_OR_RETURN(
      const ipc::UniqueFd lockdown,
      sandbox::CompileLockdown(policy, plugin, context_.forbidden));
  ASSIGN_OR_RETURN(
      auto launched,
      sandbox::Launch(
          {.tier = context_.tier,
           .policy = policy,
           .reaper_executable = reaper.get(),
           .worker_executable = worker.get(),
           .plugin = opened.plugin.get(),
           .lockdown = lockdown.get(),
           .application = context_.application_pidfd,
           .outside_id = context_.own_uid ? std::optional(sandbox::OutsideId(
                                                ::getpid(), number_))
                                          : std::nullopt,
           .cgroup = &context_.cgroup,
           .deadline = ipc::Deadline::After(context_.start_deadline)}));
  return std::make_shared<Incarnation>(context_.port, std::move(launched),
                                       context_.forbidden);
}

kj::Promise<Status> Backend::Probe(std::shared_ptr<Incarnation> incarnation) {
  auto sockets = ipc::MakeSocketPair();
  if (!sockets) return FromIpc(std::move(sockets).error());
  auto socket =
      std::make_shared<EventSocket>(context_.port, std::move(sockets->first));
  return incarnation
      ->CloneWorker(Incarnation::WorkerKind::kProbe, std::move(sockets->second),
                    context_.worker_deadline)
      .then([this, incarnation, socket](auto worker) -> kj::Promise<Status> {
        if (!worker) return std::move(worker).error();
        const pid_t pid = worker->pid;
        auto answer = socket->Receive(0).then(
            [this, incarnation, pid](auto received) -> kj::Promise<Status> {
              if (!received) return FromIpc(std::move(received).error());
              if (*received) return AdoptDevicesIfValid(**received);
              return incarnation->AwaitEnd(pid, kProbeEndPatience)
                  .then([](WorkerEnd end) {
                    return Status(
                        Code::kBackendUnavailable,
                        "its process died while it counted its devices: " +
                            DescribeExit(ToReport(end)));
                  });
            });
        const milliseconds limit = context_.worker_deadline;
        return answer
            .exclusiveJoin(context_.port.getTimer()
                               .afterDelay(limit.count() * kj::MILLISECONDS)
                               .then([] {
                                 return Status(
                                     Code::kBackendUnavailable,
                                     "it took too long to count its devices");
                               }))
            .then([incarnation, socket, pid](Status status) {
              incarnation->KillWorker(pid);
              incarnation->ForgetWorker(pid);
              return status;
            });
      });
}

Status Backend::AdoptDevicesIfValid(ipc::ReceivedMessage& list_untrusted) {
  const auto adopted = ipc::ReadCatching([&]() -> ipc::Expected<Status> {
    auto root = list_untrusted.root<schema::DeviceList>();
    if (!root) return tl::unexpected(std::move(root).error());
    if (root->isFailed()) {
      return Status(
          Code::kBackendUnavailable,
          CleanText(root->getFailed().getMessage().cStr(), kMaxReasonBytes));
    }
    const auto devices_untrusted = root->getDevices();
    if (devices_untrusted.size() == 0) {
      return Status(Code::kBackendUnavailable, "it found no device");
    }
    if (devices_untrusted.size() > kMaxDevices) {
      return Status(Code::kBackendMisbehaved, "it names too many devices");
    }
    std::vector<Device> devices;
    for (const auto device_untrusted : devices_untrusted) {
      const std::string name = device_untrusted.getName().cStr();
      const auto& reserved = candidate_.manifest.devices;
      if (std::find(reserved.begin(), reserved.end(), name) == reserved.end()) {
        return Status(Code::kBackendMisbehaved,
                      "it names the device \"" + CleanText(name, 64) +
                          "\", which its manifest does not reserve");
      }
      const auto index = static_cast<uint32_t>(
          std::count_if(devices.begin(), devices.end(),
                        [&](const Device& d) { return d.name == name; }));
      devices.push_back({name, index, static_cast<uint32_t>(devices.size()),
                         CleanText(device_untrusted.getDescription().cStr(),
                                   kMaxDescriptionBytes)});
    }
    devices_ = std::move(devices);
    return Status();
  });
  return adopted ? *adopted : FromIpc(adopted.error());
}

Result<Backend::Device> Backend::FindDevice(
    const discovery::DeviceName& name) const {
  for (const Device& device : devices_) {
    if (device.name == name.name && device.index == name.index.value_or(0)) {
      return device;
    }
  }
  std::string known;
  for (const DescribedDevice& device : devices()) known += " " + device.name;
  return Status(Code::kNotFound, "there is no device " + name.ToString() +
                                     "; the backend has:" + known);
}

}  // namespace bulkhead::supervisor
