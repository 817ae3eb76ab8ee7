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
#include "bulkhead/video_decoder.h"

namespace bulkhead {

// The record of one end of a backend's process that somebody is to blame for
// or that nobody can explain: what an operator sends to a vendor. Written by
// bulkheadd to `crashes` in the state directory; what `bulkhead crashes` shows.
// Not recorded are workers that were no longer needed and those that somebody
// else ended with SIGKILL.
struct Crash {
  struct Application {
    int pid = 0;  // as its bulkheadd saw it
    std::string program;
  };
  struct Backend {
    std::string name;  // of the entry point
    std::string distribution;
    std::string version;
    std::string directory;    // that held the distribution
    std::string file;         // the shared object
    std::string hash;         // of the file, as RECORD had it; may be empty
    int64_t bytes = 0;        // of the file
    int64_t modified_ns = 0;  // since 1970
  };
  struct Input {
    std::string path;  // absolute
    int64_t bytes = 0;
    int64_t modified_ns = 0;
    uint64_t device = 0;
    uint64_t inode = 0;
  };
  // What the application waited for.
  struct Request {
    enum class Kind : uint8_t {
      kStart,    // the backend to start, or to be ready
      kOpen,     // OpenVideo
      kScan,     // the index
      kNext,     // Next, frame `frame` of the stream
      kFrameAt,  // FrameAt(`frame`), or samples from `frame` on
    };
    Kind kind = Kind::kStart;
    uint64_t frame = 0;
    bool audio = false;  // of OpenAudio, else OpenVideo
    std::optional<int> stream_index;
    // Of OpenVideo.
    uint32_t threads = 1;
    bool ignores_errors = false;  // OnCorrupt::kSkip or kNearest
    OutputDtype output_dtype = OutputDtype::kUint8;
    std::vector<Transform> transforms;
    // Of OpenAudio.
    std::optional<int> sample_rate;
    std::optional<int> num_channels;
    std::vector<std::pair<std::string, std::string>> backend_options;
    // False: there were more options than a record holds.
    bool complete = true;
    int64_t deadline_ms = 0;  // of the step
  };

  uint64_t number = 0;
  std::string time;  // "2026-07-01T12:00:00.123Z"
  Application application;
  Backend backend;
  std::string device;  // "openreg:1"; empty: it concerns all of them
  SandboxTier tier = SandboxTier::kNone;
  uint32_t incarnation = 0;  // how often the backend had been started
  std::string process;       // "worker" or "zygote"
  std::string blamed;        // "input", "backend", "device", "start", "nobody"
  // How it ended and where. The claimed members are the process's own words.
  ExitReport end;
  // The same in a sentence; for a protocol violation what was wrong, for a
  // deadline which step it missed.
  std::string cause;
  std::optional<Input> input;  // none: it served no session
  Request request;
  std::string last_message;  // that the worker was sent: "seek to …"
  uint32_t attempt = 1;      // at this position
  // The last lines that the backend wrote to its stderr: its own words.
  std::vector<std::string> log;
  // What came of it: "recovered", the name of the Code that the application
  // got, or empty where that is not known.
  std::string outcome;
  // Ends right before this one that were too many to be recorded.
  uint64_t unrecorded = 0;
};

struct CrashList {
  std::vector<Crash> crashes;  // the latest last
  Diagnostics diagnostics;     // what is in the directory and is no record
};

// The records in that state directory; nullopt: the one that a Host uses that
// is created without naming one. Nothing there is an empty list. At any time,
// also without a Host; they block only as long as the file system does.
// kInvalidArgument: there is none that counts, and the message says why.
Result<CrashList> ReadCrashes(
    const std::optional<std::string>& state_directory = std::nullopt);
// kNotFound: there is none of that number, or not any more. kBadInput: what has
// its name is no record.
Result<Crash> ReadCrash(
    uint64_t number,
    const std::optional<std::string>& state_directory = std::nullopt);
// Removes them all. Their numbers are not used again.
Status ClearCrashes(
    const std::optional<std::string>& state_directory = std::nullopt);

// "worker of openreg:1 (backend acme): it was ended by signal 11 …".
std::string Summary(const Crash& crash);

}  // namespace bulkhead
