// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/allowed_media.h"
#include "bulkhead/audio_decoder.h"
#include "bulkhead/cancellation.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/host_options.h"
#include "bulkhead/metadata.h"
#include "bulkhead/reports.h"
#include "bulkhead/source.h"
#include "bulkhead/status.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead {

namespace supervisor_link {
class SupervisorLink;
}

// Returns the entry points of every group and of every distribution on the
// plugin path, as importlib.metadata.entry_points() does for Python. Uses only
// the options about the plugin path. Reads metadata in the calling process,
// starts no process, and never fails because of what it reads: problems are in
// the report's diagnostics. Thread-safe.
EntryPointReport FindEntryPoints(const HostOptions& options = {});
// Returns the entry points of the distributions in `directories` alone, which
// are searched in this order.
EntryPointReport FindEntryPoints(const std::vector<std::string>& directories);

// Options of Host::Probe.
struct ProbeOptions {
  // The device whose worker reads the file. Empty: HostOptions::default_device.
  std::string device = {};
  // True: the worker reads every packet too, which fills the *_from_content
  // members.
  bool scan = false;
  // Ends the call from another thread.
  std::optional<Cancellation> cancellation = {};
  // Narrows HostOptions::allowed for this file.
  AllowedMedia allowed = {};
};

// The entry to Bulkhead: discovers backends and opens streams on their devices.
//
//     auto host = bulkhead::Host::Create({});
//     auto video = (*host)->OpenVideo("clip.mp4", {.device = "openreg:1"});
//     while (auto frame = video->Next().value()) Show(*frame);
//
// A Host does the following to the application's process: it starts the
// supervisor `bulkheadd`, holds a few descriptors, and maps the memory of its
// sessions. The descriptors are close-on-exec, and 3 or higher even if the
// application has closed its standard descriptors. A double fork starts
// bulkheadd, so the application gets no SIGCHLD for it, and waitpid(-1) does
// not return it. The Host starts no thread, installs no signal handler, changes
// no global state, and loads neither vendor code nor a media library. When the
// application ends, however it ends, every process that was started for it ends
// too. A forked child of the application gets kUnsupported from the Host and
// its decoders, and has to create a Host of its own.
//
// An exception is an application that is pid 1 or a child subreaper
// (PR_SET_CHILD_SUBREAPER), from which a double fork hides nothing: bulkheadd
// becomes its child, and so do bulkheadd's own children when bulkheadd dies.
// The application gets SIGCHLD for each, and waitpid(-1) returns them. The Host
// reaps every bulkheadd, at the latest when the Host and its decoders are
// destroyed. The application has to reap the other adopted processes, as any
// init does. In a container, let an init such as `tini` be pid 1.
//
// Thread-safe: any number of threads may call any method. The failure of a
// backend is an error of the call that needed the backend, never of the Host.
class Host {
 public:
  // Starts the supervisor. kInvalidArgument if an option or an environment
  // variable is wrong, kNotFound if Bulkhead's programs are missing,
  // kUnsupported inside a backend and on a kernel without pidfd_open. The
  // minimum is Linux 5.13: on an older kernel, later calls may fail.
  static Result<std::unique_ptr<Host>> Create(HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Opens one video stream of a file or another source. The decoder may outlive
  // the Host. kNotFound if there is no such file or device, or no video in the
  // file; kInvalidArgument if an option or the path is wrong, kBadInput if the
  // file cannot be read as media, kBackendUnavailable if the backend did not
  // start (the message has the cause), kSandboxUnavailable if this machine
  // offers less isolation than the configured floor. Can also return the errors
  // of VideoDecoder's calls.
  Result<VideoDecoder> OpenVideo(const Source& source,
                                 VideoOptions options = {});

  // Opens one audio stream of a file or another source. Returns the errors of
  // OpenVideo, kNotFound also for a file without audio, and kUnsupported also
  // if the backend decodes no audio (the message names the devices that do).
  Result<AudioDecoder> OpenAudio(const Source& source,
                                 AudioOptions options = {});

  // Returns the metadata of the container and of each of its streams, of every
  // kind. A worker reads the file and decodes nothing. Returns the errors of
  // OpenVideo, but accepts a file without a video.
  Result<ContainerMetadata> Probe(const Source& source,
                                  ProbeOptions options = {});

  // The calls below send a request to bulkheadd. Cancel() of the Cancellation
  // that they are given ends the wait for the answer with kCancelled; bulkheadd
  // still completes the request.

  // Starts the backend of `device`, so that the first stream does not wait for
  // the start. Does nothing if the backend is running. Returns those errors of
  // OpenVideo that concern the device.
  Status Prewarm(const std::string& device,
                 const std::optional<Cancellation>& cancellation = {});

  // Loads backends explicitly and returns their devices once they have started.
  // `path` is a NAME-VERSION.dist-info directory, a directory that holds some,
  // or a shared object that entry points name. Works even if autoload is off,
  // but does not load a backend that BULKHEAD_BACKENDS_DISABLE names. A backend
  // that is already loaded stays as it is. kNotFound if there is no backend at
  // `path`; kBackendUnavailable if a backend does not start: the message has
  // the cause, and the backend stays registered, so its devices fail with the
  // same cause.
  Result<std::vector<DeviceInfo>> LoadBackend(
      const std::string& path,
      const std::optional<Cancellation>& cancellation = {});
  // Loads the backend that one entry point names. kInvalidArgument unless the
  // entry point is of the group bulkhead.backends.
  Result<std::vector<DeviceInfo>> LoadBackend(
      const EntryPoint& entry_point,
      const std::optional<Cancellation>& cancellation = {});

  // The following four are an operator's commands, as `bulkhead restart` and
  // its siblings. `backend` is the name of the backend's entry point; kNotFound
  // if no backend has that name (the message lists the names there are). No
  // command ends a session: open sessions keep the process they have. The
  // commands hold for this Host only, and are forgotten if its bulkheadd dies.

  // Starts the backend afresh when a device of it is next asked for, and
  // forgets its failures, poisoned inputs and quarantine. kBackendUnavailable
  // if the backend is disabled.
  Status Restart(const std::string& backend,
                 const std::optional<Cancellation>& cancellation = {});
  // Checks the backend's files as they are installed now, and lets them serve
  // new sessions. kBackendUnavailable or kBackendMisbehaved if they fail the
  // check (the message has the reason); the running backend then stays.
  Status Reload(const std::string& backend,
                const std::optional<Cancellation>& cancellation = {});
  // Makes the devices of the backend fail with kBackendUnavailable until the
  // backend is enabled. The state directory keeps the backend's name, so the
  // backend also stays disabled for applications that start later with the same
  // directory. If the name cannot be written there, the call fails and changes
  // nothing. Without a state directory, the backend stays disabled until
  // bulkheadd ends.
  Status Disable(const std::string& backend,
                 const std::optional<Cancellation>& cancellation = {});
  // Undoes Disable, whichever Host or operator called it. kBackendUnavailable
  // if the installed files cannot be used.
  Status Enable(const std::string& backend,
                const std::optional<Cancellation>& cancellation = {});

  // The following three report on every backend, also on those that are
  // disabled or have failed. They start no backend: the capabilities of a
  // device are complete only once its backend has run, for instance after
  // Prewarm().
  Result<std::vector<DeviceInfo>> Devices(
      const std::optional<Cancellation>& cancellation = {});
  Result<BackendReport> Backends(
      const std::optional<Cancellation>& cancellation = {});
  Result<SandboxReport> Sandbox(
      const std::optional<Cancellation>& cancellation = {});
  // Returns the pid of bulkheadd, for operators and tests.
  int supervisor_pid() const;

 private:
  Host(HostOptions options,
       std::shared_ptr<supervisor_link::SupervisorLink> link);

  // Fills the members of a call's options that are left to the Host's options.
  template <typename Options>
  Status Complete(Options& options) const;

  HostOptions options_;
  std::shared_ptr<supervisor_link::SupervisorLink> link_;
};

}  // namespace bulkhead
