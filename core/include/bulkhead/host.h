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
  // Directories that hold distributions. nullopt: BULKHEAD_PATH,
  // BULKHEAD_ADD_PATH and the standard directories.
  std::optional<std::vector<std::string>> plugin_path;
  // nullopt: BULKHEAD_DEVICE_BACKEND_AUTOLOAD.
  std::optional<bool> autoload;
  // Globs on entry-point names. nullopt: BULKHEAD_BACKENDS[_DISABLE].
  std::optional<std::vector<std::string>> backends;
  std::optional<std::vector<std::string>> backends_disable;
  // nullopt: BULKHEAD_SANDBOX_FLOOR ("full", "reduced"), else full.
  std::optional<SandboxTier> sandbox_floor;
  // Holds bulkheadd, bulkhead-reaper, bulkhead-worker and the directory
  // `backends`. Empty: BULKHEAD_LIBEXEC_DIR, else /usr/lib/bulkhead/libexec.
  std::string libexec_dir;
  Limits limits;
  Deadlines deadlines;
};

struct BackendInfo {
  std::string name;  // of the entry point
  std::string distribution;
  std::string version;
  std::string file;
  std::string state;  // discovered, starting, ready, backing-off, …
  std::string reason;
  std::vector<std::string> devices;  // reserved, or probed once it ran
  SandboxTier tier;
  int zygote_pid = 0;  // 0: not running
  int reaper_pid = 0;
  std::vector<int> session_pids;
};

struct BackendReport {
  std::vector<BackendInfo> backends;
  std::vector<Diagnostic> diagnostics;
};

struct SandboxReport {
  SandboxTier tier;
  std::vector<std::string> reasons;
  uint32_t landlock_abi;
  bool own_uid;
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
