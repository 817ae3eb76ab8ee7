// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/status_macros.h"

namespace bulkhead::cli::conformance {
namespace {

// Returns the name of a device without its index: "acme/npu" for "acme/npu:1".
std::string WithoutIndex(const std::string& device) {
  return device.substr(0, device.find(':'));
}

}  // namespace

Subject::Subject(HostOptions options, const ConformanceRequest& request,
                 std::shared_ptr<const demo::TemporaryDirectory> directory,
                 KeptFiles kept)
    : options_(std::move(options)),
      name_(request.backend),
      media_(request.media),
      device_(request.device),
      directory_(std::move(directory)),
      kept_(std::move(kept)) {}

Result<std::unique_ptr<Subject>> Subject::Make(
    const GlobalOptions& global, const ConformanceRequest& request) {
  HostOptions options = HostOptionsFrom(global);
  // Environment variables can hide backends from applications, but not here.
  options.autoload = true;
  options.backends_disable.emplace();
  const auto directory = std::make_shared<const demo::TemporaryDirectory>();
  if (directory->path().empty()) {
    return Status(Code::kInvalidArgument,
                  "cannot make a temporary directory; is TMPDIR writable?");
  }
  const std::string clips =
      request.clips.empty() ? directory->path() + "/clips" : request.clips;
  std::unique_ptr<Subject> subject(
      new Subject(std::move(options), request, directory, KeptFiles(clips)));
  ASSIGN_OR_RETURN(const auto host, subject->NewHostFor("*", {}));
  ASSIGN_OR_RETURN(subject->backend_, subject->Describe(*host));
  const std::vector<DeviceInfo>& devices = subject->backend_.devices;
  if (devices.empty()) {
    return Status(Code::kInvalidArgument,
                  "the backend " + request.backend +
                      " has no device: its bulkhead.toml names none");
  }
  if (subject->device_.empty()) subject->device_ = devices.front().name;
  const std::string wanted = WithoutIndex(subject->device_);
  const bool known =
      std::ranges::any_of(devices, [&](const DeviceInfo& device) {
        return WithoutIndex(device.name) == wanted;
      });
  if (known) return subject;
  std::string names;
  for (const DeviceInfo& device : devices) names += " " + device.name;
  return Status(Code::kInvalidArgument,
                fmt::format("the backend {} has no device {}; it has{}",
                            request.backend, subject->device_, names));
}

Result<std::unique_ptr<Host>> Subject::NewHostFor(const std::string& backend,
                                                  const Change& change) {
  HostOptions options = options_;
  options.backends = {backend};
  options.state_directory =
      fmt::format("{}/state-{}-{}", scratch(), name_, ++hosts_);
  if (change) change(options);
  return Host::Create(std::move(options));
}

Result<std::unique_ptr<Host>> Subject::NewHost(const Change& change) {
  return NewHostFor(name_, change);
}

Result<Host*> Subject::SharedHost() {
  if (!shared_) {
    ASSIGN_OR_RETURN(shared_, NewHost());
  }
  return shared_.get();
}

Result<Subject*> Subject::Reference() {
  if (reference_) return reference_.get();
  std::unique_ptr<Subject> cpu(new Subject(
      options_, {.backend = "cpu", .device = "cpu"}, directory_, kept_));
  ASSIGN_OR_RETURN(Host* const host, cpu->SharedHost());
  ASSIGN_OR_RETURN(cpu->backend_, cpu->Describe(*host));
  reference_ = std::move(cpu);
  return reference_.get();
}

Result<VideoDecoder> Subject::Open(Host& host, const ReferenceClip& clip,
                                   VideoOptions options) const {
  if (options.device.empty()) options.device = device_;
  if (clip.deep) options.output_dtype = OutputDtype::kFloat32;
  return host.OpenVideo(clip.path, std::move(options));
}

Result<BackendInfo> Subject::Describe(Host& host) const {
  ASSIGN_OR_RETURN(const BackendReport report, host.Backends());
  std::string names;
  for (const BackendInfo& backend : report.backends) {
    if (backend.name == name_) return backend;
    names += (names.empty() ? "" : ", ") + backend.name;
  }
  return Status(Code::kNotFound,
                fmt::format("there is no backend {}; there are: {}. `bulkhead "
                            "backends` shows where they are searched",
                            name_, names));
}

void Subject::SetCounted(const BackendInfo& backend) {
  backend_ = backend;
  if (device_.find(':') != std::string::npos) return;
  for (const DeviceInfo& device : backend_.devices) {
    if (WithoutIndex(device.name) != device_) continue;
    device_ = device.name;
    return;
  }
}

bool Subject::has_device() const {
  return std::ranges::find(backend_.devices, device_, &DeviceInfo::name) !=
         backend_.devices.end();
}

std::vector<StreamCapability> Subject::DeclaredStreams(
    const std::string& kind) const {
  std::vector<StreamCapability> streams;
  for (const DeviceInfo& device : backend_.devices) {
    if (device.name != device_) continue;
    std::ranges::copy_if(
        device.capabilities.streams, std::back_inserter(streams),
        [&](const StreamCapability& each) { return each.kind == kind; });
  }
  return streams;
}

}  // namespace bulkhead::cli::conformance
