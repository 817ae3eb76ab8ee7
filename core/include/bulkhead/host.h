// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/diagnostic.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/status.h"
#include "bulkhead/video_decoder.h"

namespace bulkhead {

namespace session {
class SupervisorLink;
}

// How much of the sandbox is in force, weakest first.
enum class SandboxTier { kNone = 0, kReduced = 1, kFull = 2 };
const char* SandboxTierName(SandboxTier tier);

// Ceilings for what one session may take. Beyond them: kResourceExhausted.
struct Limits {
  uint64_t frame_pixels = 64'000'000;
  uint64_t session_bytes = uint64_t{1} << 30;
  uint32_t frame_slots = 8;
  // Deaths for which the input or backend is to blame, at one position.
  uint32_t attempts_per_position = 3;
  // Deaths that are nobody's fault (an operator's SIGKILL), at one position.
  uint32_t restarts_per_position = 32;
};

// Every step has one; a worker past it is killed and replaced.
struct Deadlines {
  std::chrono::milliseconds supervisor_start{5'000};
  std::chrono::milliseconds backend_start{10'000};
  std::chrono::milliseconds worker_start{5'000};
  std::chrono::milliseconds open{15'000};   // until the first frame is decoded
  std::chrono::milliseconds scan{10'000};   // between two parts of the index
  std::chrono::milliseconds frame{10'000};  // from frame to frame
};

struct HostOptions {
  // Directories that hold distributions, absolute. nullopt: BULKHEAD_PATH,
  // else the standard directories.
  std::optional<std::vector<std::string>> plugin_path;
  // Searched before those. nullopt: BULKHEAD_ADD_PATH.
  std::optional<std::vector<std::string>> plugin_add_path;
  // nullopt: BULKHEAD_DEVICE_BACKEND_AUTOLOAD.
  std::optional<bool> autoload;
  // Globs on entry-point names. nullopt: BULKHEAD_BACKENDS[_DISABLE].
  std::optional<std::vector<std::string>> backends;
  std::optional<std::vector<std::string>> backends_disable;
  // Start every backend in Create instead of when a device of it is first asked
  // for. Create does not wait for them; one that fails says so when asked for.
  bool eager = false;
  // Of a VideoOptions without one.
  std::string default_device = "cpu";
  // nullopt: BULKHEAD_SANDBOX_FLOOR ("full", "reduced"), else full.
  std::optional<SandboxTier> sandbox_floor;
  // Holds bulkheadd, bulkhead-reaper, bulkhead-worker and the directory
  // `backends`. Empty: BULKHEAD_LIBEXEC_DIR, else /usr/lib/bulkhead/libexec.
  std::string libexec_dir;
  Limits limits;
  Deadlines deadlines;
};

struct DeviceInfo {
  // As VideoOptions::device names it: "cpu:0", "acme/npu:1"; without an index
  // until the backend ran once and counted.
  std::string name;
  std::string backend;
  std::string description;  // the backend's words; empty until it ran
  std::string state;        // of the backend, as in BackendInfo
  std::string reason;       // why it is not available
};

struct BackendInfo {
  std::string name;  // of the entry point
  std::string distribution;
  std::string version;
  std::string file;
  std::string state;  // discovered, starting, ready, backing-off, …
  std::string reason;
  std::vector<DeviceInfo> devices;  // reserved, or counted once it ran
  SandboxTier tier;
  uint32_t incarnation = 0;  // how often it was started
  int zygote_pid = 0;        // 0: not running
  int reaper_pid = 0;
  std::vector<int> session_pids;
};

// A directory of the plugin path and what came of it.
struct SearchedPlace {
  std::string path;
  std::string origin;   // why it is searched: "BULKHEAD_PATH", "built in"
  std::string outcome;  // "2 distributions, 1 backend", "does not exist", …
};

struct BackendReport {
  std::vector<BackendInfo> backends;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // in the order of precedence
};

struct EntryPointReport {
  EntryPoints entry_points;  // of every group, in the order of precedence
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;
};

struct SandboxReport {
  SandboxTier tier;
  std::vector<std::string> reasons;
  uint32_t landlock_abi;
  bool own_uid;
};

// The entry points of every distribution on the plugin path, of any group: what
// importlib.metadata.entry_points() is to Python. Reads metadata in the calling
// process, starts nothing, and never fails because of what it reads. Uses the
// options about the path alone.
EntryPointReport FindEntryPoints(const HostOptions& options = {});
// The same of these directories and no others, in this order.
EntryPointReport FindEntryPoints(const std::vector<std::string>& directories);

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
// started ends too. A forked child of the application may not use the Host.
//
// Thread-safe: any number of threads may call any method. Failure of a backend
// is an error of the call that needed it, never of the Host.
class Host {
 public:
  // Starts the supervisor. Fails with kInvalidArgument when an option or
  // environment variable is wrong, kNotFound when the programs are missing.
  static Result<std::unique_ptr<Host>> Create(HostOptions options);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Opens one video stream of a file. The decoder may outlive the Host.
  // kNotFound: no such file or device; kBadInput: not a video that the backend
  // can read; kBackendUnavailable: the backend did not start (the message has
  // the cause); kSandboxUnavailable: not enough isolation on this machine.
  Result<VideoDecoder> OpenVideo(const std::string& path,
                                 VideoOptions options = {});

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
