// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/event.h"

namespace bulkhead {

// How much of the sandbox is in force, weakest first.
enum class SandboxTier { kNone = 0, kReduced = 1, kFull = 2 };
const char* SandboxTierName(SandboxTier tier);

// Ceilings for what one session may take. Beyond them: kResourceExhausted, with
// a message that names the limit.
struct Limits {
  uint64_t frame_pixels = 64'000'000;
  // Of this process: frames and samples that are under way or in one batch.
  uint64_t session_bytes = uint64_t{1} << 30;
  // Of its worker: private memory beyond what the backend had taken when it was
  // loaded (RLIMIT_DATA). Not of a worker that serves several sessions.
  uint64_t worker_bytes = uint64_t{4} << 30;
  uint32_t frame_slots = 8;
  uint32_t streams = 1000;  // of a file
  // Of one packet: by default a picture of 64 million pixels of 8 bytes.
  uint64_t packet_bytes = uint64_t{1} << 29;
  uint64_t index_frames = uint64_t{1} << 24;  // 24 bytes each
  // Deaths for which the input or backend is to blame, at one position.
  uint32_t attempts_per_position = 3;
  // Deaths that are nobody's fault (an operator's SIGKILL), at one position.
  uint32_t restarts_per_position = 32;
  // Of a backend or of its start, within ten minutes; then it is quarantined.
  uint32_t failures_per_backend = 5;
};

// Every step has one; a worker past it is killed and replaced. In monotonic
// time: a suspended machine and a wall clock that leaps take nothing from it.
// Where a worker had to wait for a processor, a step takes as much longer, at
// most twice as long as it may.
struct Deadlines {
  std::chrono::milliseconds supervisor_start{5'000};
  // Until its zygote has loaded the backend; and then until its devices are
  // counted.
  std::chrono::milliseconds backend_start{10'000};
  std::chrono::milliseconds worker_start{5'000};
  std::chrono::milliseconds open{15'000};
  std::chrono::milliseconds scan{10'000};  // between two parts of the index
  // Until the first frame from there, the first of a stream included.
  std::chrono::milliseconds seek{10'000};
  std::chrono::milliseconds frame{10'000};  // from frame to frame
  // Until a worker that was killed is dead. One that is not, which a driver can
  // bring about, is written off: nothing waits for it any more, its memory is
  // never used again, and `bulkhead ps` tells of it.
  std::chrono::milliseconds close{2'000};
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
  // A file that grants permissions to backends, absolute, beside
  // /etc/bulkhead/grants.toml. nullopt: BULKHEAD_GRANTS, else the user's
  // ~/.config/bulkhead/grants.toml. In a privileged process (AT_SECURE) none of
  // these counts.
  std::optional<std::string> grants;
  // A directory, absolute, in which records outlive this process, such as which
  // backends are quarantined; made when there is the first. Empty: none is
  // kept. nullopt: BULKHEAD_STATE_DIR, else /var/lib/bulkhead for root and
  // $XDG_STATE_HOME/bulkhead or ~/.local/state/bulkhead for others; in a
  // privileged process (AT_SECURE) no variable counts.
  std::optional<std::string> state_directory;
  // Of options that name none.
  std::string default_device = "cpu";
  // nullopt: BULKHEAD_SANDBOX_FLOOR ("full", "reduced"), else full.
  std::optional<SandboxTier> sandbox_floor;
  // A directory of cgroup version 2, absolute, in which backends get cgroups
  // that limit each as a whole. nullopt: BULKHEAD_CGROUP, else one is used that
  // was delegated to this user (`bulkhead doctor`). In a privileged process
  // (AT_SECURE) neither counts.
  std::optional<std::string> cgroup;
  // Holds bulkheadd, bulkhead-reaper, bulkhead-worker and the directory
  // `backends`. Empty: BULKHEAD_LIBEXEC_DIR, else /usr/lib/bulkhead/libexec.
  std::string libexec_dir;
  Limits limits;
  Deadlines deadlines;
  // Told what happens to the backends and sessions of this Host; empty: nobody
  // is. Called at the end of any call of Host or VideoDecoder that has spoken
  // to bulkheadd, on the thread of that call, never from two threads at once,
  // and never from elsewhere: no thread is started for it. It may use the Host,
  // and must not throw.
  EventObserver on_event;
};

}  // namespace bulkhead
