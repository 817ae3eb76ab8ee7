// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/conformance/kept_files.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/demo/sample_clip.h"
#include "tools/cli/options.h"

namespace bulkhead::cli::conformance {

// The backend, device and files that the user asks to be checked.
struct ConformanceRequest {
  std::string backend;  // the name of the entry point
  std::string device;   // empty: the first device of the backend
  std::string media;    // a directory with more files to decode; empty: none
  std::string clips;    // the directory for made clips; empty: a temporary one
};

// The backend that is checked, and the clips to check it with.
//
//     ASSIGN_OR_RETURN(auto subject, Subject::Make(global, request));
//     ASSIGN_OR_RETURN(auto host, subject->NewHost());
//     auto video = subject->Open(*host, clip);
//
// Each Host has a temporary state directory of its own. So no check sees the
// failures of another, and nothing that a check provokes counts against the
// backend in production. Not thread-safe.
class Subject {
 public:
  using Change = std::function<void(HostOptions&)>;

  // Finds the backend, without starting it. Returns kNotFound, with the names
  // of all backends, if no backend has the name; kInvalidArgument if the
  // backend has no such device.
  static Result<std::unique_ptr<Subject>> Make(
      const GlobalOptions& global, const ConformanceRequest& request);

  // Returns a Host that uses this backend and no other; `change` changes its
  // options.
  Result<std::unique_ptr<Host>> NewHost(const Change& change = {});
  // Returns a Host with the usual options, which this object owns. Checks share
  // it, because starting the backend takes longer than most checks.
  Result<Host*> SharedHost();
  // Returns the Subject of the reference backend `cpu`, with a Host of its own.
  // This object owns that Subject, and all checks share it.
  Result<Subject*> Reference();
  // Destroys the shared Host after a failure. The next check makes a new Host.
  void ForgetHost() { shared_.reset(); }
  // Opens a clip on the device, with float32 output for a deep clip
  // (ReferenceClip::deep).
  Result<VideoDecoder> Open(Host& host, const ReferenceClip& clip,
                            VideoOptions options = {}) const;

  // Returns the backend as `host` knows it now.
  Result<BackendInfo> Describe(Host& host) const;

  const BackendInfo& backend() const { return backend_; }
  // The device that is checked. If the user omitted the index, SetCounted()
  // adds it: "acme" becomes "acme:0".
  const std::string& device() const { return device_; }
  // Stores the description of the backend. Called after the first start, when
  // the backend has counted its devices.
  void SetCounted(const BackendInfo& backend);
  // Returns whether the device is among those that were counted.
  bool has_device() const;
  // Returns the capabilities for streams of the kind ("video", "audio") that
  // the device declares; none if it declares nothing.
  std::vector<StreamCapability> DeclaredStreams(const std::string& kind) const;

  // A temporary directory for the files of checks.
  const std::string& scratch() const { return directory_->path(); }
  const std::string& media() const { return media_; }
  // The cache of made clips and of ffmpeg's frames. It outlasts the run if the
  // user named a directory for it.
  const KeptFiles& kept() const { return kept_; }

  // The clips that the device has decoded correctly. Checks that need a single
  // clip use the first.
  const std::vector<ReferenceClip>& clips() const { return clips_; }
  void AddClip(ReferenceClip clip) { clips_.push_back(std::move(clip)); }

 private:
  Subject(HostOptions options, const ConformanceRequest& request,
          std::shared_ptr<const demo::TemporaryDirectory> directory,
          KeptFiles kept);

  Result<std::unique_ptr<Host>> NewHostFor(const std::string& backend,
                                           const Change& change);

  const HostOptions options_;
  const std::string name_;
  const std::string media_;
  std::string device_;
  BackendInfo backend_;
  // Shared with reference_.
  const std::shared_ptr<const demo::TemporaryDirectory> directory_;
  const KeptFiles kept_;
  std::vector<ReferenceClip> clips_;
  int hosts_ = 0;  // The number of Hosts made so far.
  std::unique_ptr<Host> shared_;
  std::unique_ptr<Subject> reference_;
};

}  // namespace bulkhead::cli::conformance
