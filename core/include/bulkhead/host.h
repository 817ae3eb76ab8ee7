// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/host_options.h"
#include "bulkhead/metadata.h"
#include "bulkhead/reports.h"
#include "bulkhead/source.h"
#include "bulkhead/status.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead {

namespace session {
class SupervisorLink;
}

// The entry points of every distribution on the plugin path, of any group: what
// importlib.metadata.entry_points() is to Python. Reads metadata in the calling
// process, starts nothing, and never fails because of what it reads. Uses the
// options about the path alone.
EntryPointReport FindEntryPoints(const HostOptions& options = {});
// The same of these directories and no others, in this order.
EntryPointReport FindEntryPoints(const std::vector<std::string>& directories);

struct ProbeOptions {
  // Whose worker reads the file. Empty: HostOptions::default_device.
  std::string device;
  // Also read every packet, for what the content tells.
  bool scan = false;
};

// The door to Bulkhead: discovers backends and opens streams on their devices.
//
//     auto host = bulkhead::Host::Create({});
//     auto video = (*host)->OpenVideo("clip.mp4", {.device = "openreg:1"});
//     while (auto frame = video->Next().value()) Show(*frame);
//
// What it does to your process: it starts `bulkheadd`, by a double fork that
// neither SIGCHLD nor waitpid(-1) sees, holds a few descriptors (all
// close-on-exec), and maps the sessions' memory. It starts no thread, installs
// no signal handler, changes no global state, and loads neither vendor code nor
// a media library. When the process ends, however it ends, everything that was
// started ends too. A forked child of the application gets
// kUnsupported from the Host and its decoders, and creates a Host of its own.
//
// Thread-safe: any number of threads may call any method. Failure of a backend
// is an error of the call that needed it, never of the Host.
class Host {
 public:
  // Starts the supervisor. Fails with kInvalidArgument when an option or
  // environment variable is wrong, kNotFound when the programs are missing,
  // kUnsupported inside a backend.
  static Result<std::unique_ptr<Host>> Create(HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Opens one video stream of a file or other source. The decoder may outlive
  // the Host.
  // kNotFound: no such file or device; kBadInput: not a video that the backend
  // can read; kBackendUnavailable: the backend did not start (the message has
  // the cause); kSandboxUnavailable: not enough isolation on this machine.
  Result<VideoDecoder> OpenVideo(const Source& source,
                                 VideoOptions options = {});

  // Opens one stream of audio of a file or other source. Fails as OpenVideo
  // does; kNotFound also where the file has no audio; kUnsupported: the backend
  // decodes none, and the message names the devices that do.
  Result<AudioDecoder> OpenAudio(const Source& source,
                                 AudioOptions options = {});

  // What the container declares of itself and of every stream in it, whatever
  // its kind, read in a worker without decoding anything. Fails as OpenVideo
  // does, but not for want of a video.
  Result<ContainerMetadata> Probe(const Source& source,
                                  ProbeOptions options = {});

  // Starts the backend of `device`, so that the first stream need not wait for
  // it. Fails as OpenVideo does for the device; done already is fine.
  Status Prewarm(const std::string& device);

  // Loads backends by hand: those of a NAME-VERSION.dist-info, of a directory
  // that holds some, or of the entry points that name a shared object. Returns
  // their devices once they are started. Works with autoload off, but not
  // against an operator's BULKHEAD_BACKENDS_DISABLE. What is loaded already
  // stays as it is. kNotFound: nothing there; kBackendUnavailable: the message
  // has the cause, and asking for its devices gives it again.
  Result<std::vector<DeviceInfo>> LoadBackend(const std::string& path);
  // The same for one entry point of group bulkhead.backends.
  Result<std::vector<DeviceInfo>> LoadBackend(const EntryPoint& entry_point);

  // Commands of an operator, by the name of the backend's entry point; those of
  // `bulkhead restart` and its like. None of them ends a session: those that
  // are open go on with what they have. kNotFound names the backends that there
  // are. They hold for this Host, whose bulkheadd forgets them if it dies.
  //
  // The next one who needs the backend starts it afresh; failures, poisoned
  // inputs and its quarantine are forgotten. kBackendUnavailable: it is
  // disabled.
  Status Restart(const std::string& backend);
  // What is installed now serves new sessions. kBackendUnavailable,
  // kBackendMisbehaved: it cannot, for the reason in the message.
  Status Reload(const std::string& backend);
  // Its devices fail with kBackendUnavailable, until it is enabled.
  Status Disable(const std::string& backend);
  // kBackendUnavailable: what is installed cannot be used.
  Status Enable(const std::string& backend);

  // Of every backend, also those that are disabled or failed. Starts nothing.
  Result<std::vector<DeviceInfo>> Devices();
  Result<BackendReport> Backends();
  Result<SandboxReport> Sandbox();
  // Pid of bulkheadd, for operators and tests.
  int supervisor_pid() const;

 private:
  Host(HostOptions options, std::shared_ptr<session::SupervisorLink> link);

  HostOptions options_;
  std::shared_ptr<session::SupervisorLink> link_;
};

}  // namespace bulkhead
