// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/diagnostic.h"
#include "bulkhead/host_options.h"
#include "bulkhead/status.h"
#include "bulkhead/transforms.h"
#include "bulkhead/video_options.h"

namespace bulkhead {

// The record of a crash: the end of a backend's process that is somebody's
// fault or that nobody can explain. `bulkhead crashes` shows the records.
// `bulkhead crashes show N --json` prints one for the vendor, without the parts
// that may contain media. bulkheadd writes the records to the directory
// `crashes` in the state directory. An end is not recorded if the worker was no
// longer needed, or if somebody else ended the process with SIGKILL.
struct Crash {
  struct Application {
    int pid = 0;  // The pid as bulkheadd saw it.
    std::string program;
  };
  struct Backend {
    std::string name;  // The name of the entry point.
    std::string distribution;
    std::string version;
    std::string directory;    // The directory with the distribution.
    std::string file;         // The shared object.
    std::string hash;         // The hash of `file` in RECORD; may be empty.
    int64_t bytes = 0;        // The size of `file`.
    int64_t modified_ns = 0;  // The time `file` changed; ns since 1970.
  };
  struct Input {
    std::string path;  // Absolute.
    int64_t bytes = 0;
    int64_t modified_ns = 0;
    uint64_t device = 0;
    uint64_t inode = 0;
  };
  // The request whose answer the application waited for.
  struct Request {
    enum class Kind : uint8_t {
      kStart,    // The start of the backend, until it is ready.
      kOpen,     // OpenVideo or OpenAudio.
      kScan,     // The scan that makes the index.
      kNext,     // Next(), for frame `frame` of the stream.
      kFrameAt,  // FrameAt(frame), or samples from number `frame` on.
    };
    Kind kind = Kind::kStart;
    uint64_t frame = 0;
    bool audio = false;  // True: OpenAudio; false: OpenVideo.
    std::optional<int> stream_index;
    StreamChoice stream_choice = StreamChoice::kFirst;
    OnCorrupt on_corrupt = OnCorrupt::kError;
    // Options of OpenVideo.
    uint32_t threads = 1;
    OutputDtype output_dtype = OutputDtype::kUint8;
    std::vector<Transform> transforms;
    // Options of OpenAudio.
    std::optional<int> sample_rate;
    std::optional<int> num_channels;
    std::vector<std::pair<std::string, std::string>> backend_options;
    // False if the call had more options than a record has room for.
    bool complete = true;
    int64_t deadline_ms = 0;  // The step's deadline (host_options.h).
  };

  uint64_t number = 0;
  std::string time;  // In UTC: "2026-07-01T12:00:00.123Z".
  Application application;
  Backend backend;
  std::string device;  // "openreg:1"; empty if the crash concerns all devices.
  SandboxTier tier = SandboxTier::kNone;
  uint32_t incarnation = 0;  // Number of starts of the backend.
  std::string process;       // "worker" or "zygote".
  // The culprit: "input", "backend", "device", "start" or "nobody".
  std::string blamed;
  // The end of the process and its position. The process itself reported the
  // members whose names begin with `claimed`.
  ExitReport end;
  // The end in one sentence, which names the violation (of the protocol) or the
  // step that was late (for a deadline). If `claims_cause` is true, the cause
  // is a breach of a clause of bulkhead_backend.h, and its text after the first
  // colon is only the process's own report.
  std::string cause;
  bool claims_cause = false;
  std::optional<Input> input;  // nullopt if the process served no session.
  Request request;
  std::string last_message;  // The last message to the worker: "seek to ...".
  uint32_t attempt = 1;      // The number of the attempt at the position.
  // True if the processes of this start of the backend had been given media
  // before the end. Then `media_log`, the claimed members of `end` and a
  // claimed cause may contain parts of the media of any session. In all other
  // members, nothing comes from the backend's processes except the exit status
  // and texts that they sent before they had media.
  bool had_media = false;
  // The last lines that the backend wrote to stderr: `log` before it had media,
  // `media_log` afterwards. The backend may have written anything.
  std::vector<std::string> log;
  std::vector<std::string> media_log;
  // The outcome: "recovered", the name of the Code that the application
  // got, or empty if not known.
  std::string outcome;
  // The number of ends that were not recorded because there were too many. They
  // came right before this end, or after it if no record follows.
  uint64_t unrecorded = 0;
};

// The records of one state directory.
struct CrashList {
  std::vector<Crash> crashes;  // The latest is the last.
  Diagnostics diagnostics;  // About files in the directory that are no records.
};

// The following functions read the records of a state directory. nullopt means
// the directory that a Host uses by default. They need no Host, are
// thread-safe, and block only as long as the file system does. kInvalidArgument
// if there is no usable state directory; the message says why.

// Returns all records. A directory without records gives an empty list.
Result<CrashList> ReadCrashes(
    const std::optional<std::string>& state_directory = std::nullopt);
// Returns one record. kNotFound if no record has that number, or if it was
// removed; kBadInput if the file of that name is no record.
Result<Crash> ReadCrash(
    uint64_t number,
    const std::optional<std::string>& state_directory = std::nullopt);
// Removes all records. Their numbers are not used again.
Status ClearCrashes(
    const std::optional<std::string>& state_directory = std::nullopt);

// Returns why no record can be kept in the state directory, whether of a crash,
// a quarantine or a disabled backend: kInvalidArgument if there is no directory
// or it must not be trusted, kResourceExhausted if it is full or cannot be
// written. Returns OK if records can be kept. Writes nothing, and the directory
// need not exist yet.
Status CheckStateDirectory(
    const std::optional<std::string>& state_directory = std::nullopt);

// Returns "worker of openreg:1 (backend acme): it was ended by signal 11 ...".
std::string Summary(const Crash& crash);

}  // namespace bulkhead
