// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/allowed_media.h"
#include "bulkhead/event.h"
#include "bulkhead/shadow.h"

namespace bulkhead {

// The part of the sandbox that is in force, weakest first. kFull: all
// namespaces and both seccomp stages, and Landlock where the kernel has it.
// kReduced: Landlock and both seccomp stages, without namespaces. kNone:
// anything less.
enum class SandboxTier { kNone = 0, kReduced = 1, kFull = 2 };
// Returns "none", "reduced" or "full". The string has static storage.
const char* SandboxTierName(SandboxTier tier);

// Ceilings for what one session may use. A call that would exceed one fails
// with kResourceExhausted, and the message names the limit.
struct Limits {
  // Pixels of one frame.
  uint64_t frame_pixels = 64'000'000;
  // Bytes of frames and samples in the application's process. Counts all that
  // are being decoded or held, and a batch as a whole. The index and the record
  // of the frames that Next() has delivered (`index_frames`) do not count.
  uint64_t session_bytes = uint64_t{1} << 30;
  // Bytes of private memory that a worker may add to the memory that its
  // backend took when it was loaded (RLIMIT_DATA). Does not apply to a worker
  // that serves several sessions.
  //
  // The memory that the backend took is bounded too: a backend that has mapped
  // more than B when it is loaded is refused. B is 1 GiB, or its grant of
  // memory if that is more. A worker can then map at most B + `worker_bytes` +
  // `session_bytes` + 256 MiB.
  //
  // Drivers map far more than they use. So if device nodes were granted to the
  // backend, B bounds only its private writable memory. All that a worker has
  // mapped is then bounded by 16 GiB, or by the grant if that is more.
  uint64_t worker_bytes = uint64_t{4} << 30;
  // Frames that the worker and the application can hold at the same time: from
  // 2 to 1024.
  uint32_t frame_slots = 8;
  // Streams of one file.
  uint32_t streams = 1000;
  // Bytes of one packet. The default holds a picture of 64 million pixels of 8
  // bytes.
  uint64_t packet_bytes = uint64_t{1} << 29;
  // Frames of an index (32 bytes each), and of the record of delivered frames
  // (16 bytes each). A stream with more frames can be played. But if its
  // timestamps do not ascend, it then cannot recover from the death of a
  // worker.
  uint64_t index_frames = uint64_t{1} << 24;
  // Deaths of workers at one position that are the fault of the input or of the
  // backend.
  uint32_t attempts_per_position = 3;
  // Deaths of workers at one position that are nobody's fault, such as an
  // operator's SIGKILL.
  uint32_t restarts_per_position = 32;
  // The part of `restarts_per_position` that may follow a SIGKILL that Bulkhead
  // did not send. The kernel's OOM killer sends one when memory runs out, and
  // each restart would take the memory again. Other signals from outside count
  // too, and so do workers that another process has stopped.
  uint32_t kills_per_position = 2;
  // Failures of a backend, or of its start, within ten minutes, before the
  // backend is quarantined.
  uint32_t failures_per_backend = 5;
};

// The longest time that each step may take. A worker that is past its deadline
// is killed and replaced. Deadlines count monotonic time, so suspending the
// machine or setting the wall clock does not matter. If a worker had to wait
// for a processor during a step, the deadline is extended by that wait, at most
// to twice its length.
//
// Each progress that a worker makes within a step starts the deadline anew:
// each part of a scan, each frame before the wanted one, each block of samples.
// In total, a step may take at most a hundred times its deadline (17 minutes
// with the defaults). So a worker cannot hold a call for ever by a little
// progress each time. A step is one scan, the decoding up to one wanted frame,
// or one range of samples.
struct Deadlines {
  // The time until bulkheadd answers.
  std::chrono::milliseconds supervisor_start{5'000};
  // The time until the zygote has loaded the backend. A session that loads the
  // backend anew has this time to load it, and waits at most as long for its
  // turn to load.
  std::chrono::milliseconds backend_start{10'000};
  // The time until a worker reports that it is locked down, and until the
  // devices of a backend are counted.
  std::chrono::milliseconds worker_start{5'000};
  // The time until the stream is open and its first frame decoded.
  std::chrono::milliseconds open{15'000};
  // The time from one part of the index to the next, or for a thousand packets
  // of Host::Probe().
  std::chrono::milliseconds scan{10'000};
  // The time from a seek until the first frame after it.
  std::chrono::milliseconds seek{10'000};
  // The time from one frame to the next.
  std::chrono::milliseconds frame{10'000};
  // The time until a killed worker is dead. A driver can keep a worker from
  // dying. Such a worker is written off: nothing waits for it any more, its
  // memory is never used again, and `bulkhead ps` lists it.
  std::chrono::milliseconds close{2'000};
};

// Options of Host::Create. An option that is set overrides its environment
// variable. In a privileged process (AT_SECURE) every environment variable of
// Bulkhead is ignored.
struct HostOptions {
  // Absolute directories that hold distributions. nullopt: BULKHEAD_PATH, or
  // the standard directories if that is unset.
  std::optional<std::vector<std::string>> plugin_path = {};
  // Absolute directories that are searched before the plugin path's.
  // nullopt: BULKHEAD_ADD_PATH.
  std::optional<std::vector<std::string>> plugin_add_path = {};
  // Absolute directories that are searched after all others, also after the
  // directories of Bulkhead's own backends. Meant for directories that others
  // than the operator write, such as the packages of an interpreter: the first
  // backend with a name owns it, so a backend in these directories takes no
  // name from another. nullopt: BULKHEAD_LAST_PATH.
  std::optional<std::vector<std::string>> plugin_last_path = {};
  // True: the backends on the plugin path are registered. nullopt:
  // BULKHEAD_DEVICE_BACKEND_AUTOLOAD.
  std::optional<bool> autoload = {};
  // Globs on entry-point names: the backends to use, and the backends not to
  // use. nullopt: BULKHEAD_BACKENDS and BULKHEAD_BACKENDS_DISABLE.
  std::optional<std::vector<std::string>> backends = {};
  std::optional<std::vector<std::string>> backends_disable = {};
  // Globs on entry-point names: the backends that each session loads anew, in
  // processes and a sandbox of its own. So not even the vendor's code can carry
  // anything from one session into another. Costs one load of the backend per
  // session. A manifest can ask for the same. nullopt: BULKHEAD_BACKENDS_EXEC.
  std::optional<std::vector<std::string>> backends_exec = {};
  // True: Create starts every backend. False: each backend starts when one of
  // its devices is first asked for. Create does not wait for the backends; one
  // that fails reports its error when a device of it is asked for.
  bool eager = false;
  // The absolute path of a file that grants permissions to backends, in
  // addition to /etc/bulkhead/grants.toml. nullopt: BULKHEAD_GRANTS, or the
  // user's ~/.config/bulkhead/grants.toml if that is unset. In a privileged
  // process (AT_SECURE) only /etc/bulkhead/grants.toml counts.
  std::optional<std::string> grants = {};
  // The absolute path of a directory for records that outlive this process,
  // such as which backends are quarantined. Created with the first record.
  // Empty: no records are kept. nullopt: BULKHEAD_STATE_DIR; if that is unset,
  // /var/lib/bulkhead for root, and for others $XDG_STATE_HOME/bulkhead or
  // ~/.local/state/bulkhead.
  std::optional<std::string> state_directory = {};
  // The device of calls that name none.
  std::string default_device = "cpu";
  // The weakest sandbox with which a backend may run; below it, the backend's
  // devices fail with kSandboxUnavailable. nullopt: BULKHEAD_SANDBOX_FLOOR
  // ("full" or "reduced"), or kFull if that is unset.
  std::optional<SandboxTier> sandbox_floor = {};
  // The absolute path of a cgroup (version 2) directory, below which each
  // backend gets a cgroup that limits it as a whole. nullopt: BULKHEAD_CGROUP;
  // if that is unset, a directory that was delegated to this user, if there is
  // one (`bulkhead doctor` shows it). In a privileged process (AT_SECURE) this
  // option is ignored as well.
  std::optional<std::string> cgroup = {};
  // True: a backend runs only in a cgroup that limits the memory of all its
  // processes together. Without such a cgroup, its devices fail with
  // kSandboxUnavailable. nullopt: BULKHEAD_REQUIRE_MEMORY_CGROUP ("1" or "0"),
  // or false if that is unset.
  std::optional<bool> require_memory_cgroup = {};
  // The directory of Bulkhead's programs: bulkheadd, bulkhead-reaper,
  // bulkhead-worker and the directory `backends`. Empty: BULKHEAD_LIBEXEC_DIR;
  // if that is unset, the directory that was installed with this library
  // (ProgramsDirectory); without one, /usr/lib/bulkhead/libexec.
  std::string libexec_dir = {};
  Limits limits = {};
  Deadlines deadlines = {};
  // The containers and codecs that streams of this Host may have. For files
  // from strangers, use AllowedMedia::Web().
  AllowedMedia allowed = {};
  // Compares a share of the video streams with another device. nullopt: none.
  std::optional<ShadowOptions> shadow = {};
  // Receives the events of this Host's backends and sessions; may be empty.
  // Called at the end of calls of the Host or of a decoder that have exchanged
  // messages with bulkheadd. Runs on the thread of the call, and never on two
  // threads at once. No thread is started for it. May use the Host. Must not
  // throw.
  EventObserver on_event = {};
};

// Returns the directory of Bulkhead's programs that a Host with these options
// uses. In a privileged process (AT_SECURE) the environment and the location of
// the library are ignored.
std::string ProgramsDirectory(const HostOptions& options = {});

}  // namespace bulkhead
