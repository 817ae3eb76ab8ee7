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

namespace bulkhead::cli {

// The backend, device and files that the user asks to be checked.
struct ConformanceRequest {
  std::string backend;  // the name of the entry point
  std::string device;   // empty: the first device of the backend
  std::string media;    // a directory with files to decode too; may be empty
  std::string clips;    // the directory that keeps clips; empty: none does
};

// The backend that is checked, and the clips to check it with.
//
//     ASSIGN_OR_RETURN(auto subject, Subject::Make(global, request));
//     ASSIGN_OR_RETURN(auto host, subject->NewHost());
//     auto video = subject->Open(*host, clip);
//
// Each Host has records of its own that are thrown away, so that no check sees
// the failures of another, and nothing that a check provokes counts against the
// backend in production. Used by one thread.
class Subject {
 public:
  using Change = std::function<void(HostOptions&)>;

  // Finds the backend, without starting it. kNotFound, with the backends that
  // there are, if there is none of that name; kInvalidArgument if it has no
  // such device.
  static Result<std::unique_ptr<Subject>> Make(
      const GlobalOptions& global, const ConformanceRequest& request);

  // Returns a Host that uses this backend and no other; `change` changes its
  // options.
  Result<std::unique_ptr<Host>> NewHost(const Change& change = {});
  // Returns a Host with the usual options, the same for many checks: a start of
  // the backend takes longer than most of them.
  Result<Host*> SharedHost();
  // Returns the backend `cpu`, the reference, with a Host of its own; the same
  // for all checks.
  Result<Subject*> Reference();
  // Lets the next checks have a new Host, since this one has seen a failure.
  void ForgetHost() { shared_.reset(); }
  // Opens a clip on the device, with the numbers that its frames are compared
  // in.
  Result<VideoDecoder> Open(Host& host, const ReferenceClip& clip,
                            VideoOptions options = {}) const;

  // The backend as `host` knows it now.
  Result<BackendInfo> Describe(Host& host) const;

  const BackendInfo& backend() const { return backend_; }
  // The device that is checked, with its index once the backend has run.
  const std::string& device() const { return device_; }
  // Takes the devices that the backend counted when it ran.
  void SetCounted(const BackendInfo& backend);
  // Returns whether the device is among those that were counted.
  bool has_device() const;

  // A directory for the files of checks.
  const std::string& scratch() const { return directory_->path(); }
  const std::string& media() const { return media_; }
  // Clips and what ffmpeg says of them: kept for other runs if the user wants.
  const KeptFiles& kept() const { return kept_; }

  // The clips that the device has decoded. The first is used where one is
  // enough.
  const std::vector<ReferenceClip>& clips() const { return clips_; }
  void AddClip(ReferenceClip clip) { clips_.push_back(std::move(clip)); }

 private:
  Subject(HostOptions options, const ConformanceRequest& request,
          std::shared_ptr<const TemporaryDirectory> directory, KeptFiles kept);

  Result<std::unique_ptr<Host>> NewHostFor(const std::string& backend,
                                           const Change& change);

  const HostOptions options_;
  const std::string name_;
  const std::string media_;
  std::string device_;
  BackendInfo backend_;
  // That of the reference too.
  const std::shared_ptr<const TemporaryDirectory> directory_;
  const KeptFiles kept_;
  std::vector<ReferenceClip> clips_;
  int hosts_ = 0;  // that were made
  std::unique_ptr<Host> shared_;
  std::unique_ptr<Subject> reference_;
};

}  // namespace bulkhead::cli
