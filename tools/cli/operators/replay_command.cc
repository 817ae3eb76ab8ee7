// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/crashes.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <vector>

#include "core/base/record_hash.h"
#include "core/base/status_macros.h"
#include "tools/cli/command_line.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::operators {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead crashes                    list the numbers
  bulkhead replay 12
  bulkhead replay 12 && echo fixed

Repeats the request with the same backend, file, stream, frame and options, in a
new worker that is not replaced when it ends. Earlier crashes caused by the input
do not count. A quarantined backend is refused unless you add
--despite-quarantine; no record is kept of a crash then.

Exit status: 0 it did not crash again; 4 it crashed again, in the same way or in
another, or its backend does not start; 2, 3 and 5 as for other subcommands.)";

using Kind = Crash::Request::Kind;

constexpr std::streamsize kPartBytes = 1 << 16;

struct ReplayOptions {
  uint64_t number = 0;
  bool despite_quarantine = false;
};

// Returns the options under which the recorded request is repeated: with the
// directory of the crashed backend on the plugin path, the recorded deadline,
// and no second attempt after a crash.
HostOptions HostOptionsFor(const GlobalOptions& global,
                           const ReplayOptions& replay, const Crash& crash) {
  HostOptions options = HostOptionsFrom(global);
  if (!options.plugin_path) {
    options.plugin_add_path = {crash.backend.directory};
  }
  options.autoload = true;
  options.limits.attempts_per_position = 1;
  options.limits.restarts_per_position = 0;
  if (replay.despite_quarantine) options.state_directory = "";
  // The record has the deadline of one step, the one that crashed.
  const std::chrono::milliseconds deadline(crash.request.deadline_ms);
  Deadlines& deadlines = options.deadlines;
  if (deadline.count() <= 0) return options;
  if (crash.request.kind == Kind::kStart) deadlines.backend_start = deadline;
  if (crash.request.kind == Kind::kOpen) deadlines.open = deadline;
  if (crash.request.kind == Kind::kScan) deadlines.scan = deadline;
  if (crash.request.kind == Kind::kNext ||
      crash.request.kind == Kind::kFrameAt) {
    deadlines.seek = deadline;
    deadlines.frame = deadline;
  }
  return options;
}

bool IsAsRecorded(const std::string& path, int64_t bytes, int64_t modified_ns) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && info.st_size == bytes &&
         info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec ==
             modified_ns;
}

// Returns whether the backend's file differs from the file that crashed.
// Compares the hash if the record has one, else size and time. The hash is more
// reliable: the same file may be installed again with a new time, and another
// file may have the old time.
bool HasChanged(const Crash::Backend& backend) {
  auto hash = RecordHash::Parse(backend.hash);
  if (!hash) {
    return !IsAsRecorded(backend.file, backend.bytes, backend.modified_ns);
  }
  std::ifstream file(backend.file, std::ios::binary);
  std::vector<char> part(kPartBytes);
  while (file.read(part.data(), kPartBytes) || file.gcount() > 0) {
    hash->Add({part.data(), static_cast<size_t>(file.gcount())});
  }
  return !hash->Matches();
}

// Warns if the input or the backend's file is not the one of the crash.
void WarnOfChanges(const Crash& crash, const BackendInfo& found) {
  const auto& input = crash.input;
  if (input && !IsAsRecorded(input->path, input->bytes, input->modified_ns)) {
    Say("warning: " + input->path + " has changed since");
  }
  const Crash::Backend& backend = crash.backend;
  if (found.file != backend.file) {
    Say("warning: it is replayed with " + found.file + ", but it was " +
        backend.file + " that crashed" +
        (backend.distribution == found.distribution &&
                 backend.version == found.version
             ? std::string()
             : " (" + backend.distribution + " " + backend.version + ", now " +
                   found.distribution + " " + found.version + ")"));
  } else if (HasChanged(backend)) {
    Say("warning: the backend's file " + backend.file + " has changed since" +
        (backend.hash.empty() ? ""
                              : "; the one that crashed had " + backend.hash));
  }
  if (!crash.request.complete) {
    Say("warning: its options were too long to be recorded; it gets none");
  }
}

Result<BackendInfo> Find(Host& host, const Crash::Backend& wanted) {
  ASSIGN_OR_RETURN(BackendReport report, host.Backends());
  for (BackendInfo& backend : report.backends) {
    if (backend.name == wanted.name) return std::move(backend);
  }
  return Status(Code::kNotFound,
                "there is no backend " + wanted.name +
                    " any more, neither in " + wanted.directory +
                    ", where the one that crashed was, nor on the plugin path; "
                    "name the directory that has it now with --plugin-path DIR "
                    "or BULKHEAD_ADD_PATH=DIR");
}

// Repeats the start of the backend, for a crash without media.
Status Start(Host& host, const Crash& crash, const BackendInfo& backend) {
  if (!crash.device.empty()) {
    return host.Prewarm(crash.backend.name + "/" + crash.device);
  }
  if (backend.devices.empty()) {
    return Status(Code::kNotFound, "its backend has no device any more");
  }
  return host.Prewarm(backend.devices[0].name);
}

// Repeats the recorded request for an audio stream.
Status DecodeAudio(Host& host, const Crash& crash) {
  const Crash::Request& request = crash.request;
  Result<AudioDecoder> audio = host.OpenAudio(
      crash.input->path, {.device = crash.backend.name + "/" + crash.device,
                          .stream_index = request.stream_index,
                          .stream_choice = request.stream_choice,
                          .sample_rate = request.sample_rate,
                          .num_channels = request.num_channels,
                          .on_corrupt = request.on_corrupt,
                          .backend_options = request.backend_options});
  if (!audio) return audio.error();
  if (request.kind == Kind::kOpen) return Status();
  // Decodes one second, not one sample: the recorded sample may be inside a
  // block, and the crash happens when the whole block is decoded.
  const AudioMetadata& metadata = audio->metadata();
  const double rate =
      request.sample_rate.value_or(static_cast<int>(metadata.sample_rate));
  const double begin =
      metadata.begin_seconds + static_cast<double>(request.frame) / rate;
  const Result<AudioSamples> samples =
      audio->SamplesPlayedInRange(begin, begin + 1);
  return samples ? Status() : samples.error();
}

// Repeats the recorded request.
Status Decode(Host& host, const Crash& crash) {
  const Crash::Request& request = crash.request;
  if (request.audio) return DecodeAudio(host, crash);
  Result<VideoDecoder> video = host.OpenVideo(
      crash.input->path, {.device = crash.backend.name + "/" + crash.device,
                          .stream_index = request.stream_index,
                          .stream_choice = request.stream_choice,
                          .threads = request.threads,
                          .on_corrupt = request.on_corrupt,
                          .backend_options = request.backend_options,
                          .output_dtype = request.output_dtype,
                          .transforms = request.transforms});
  if (!video) return video.error();
  if (request.kind == Kind::kScan) {
    const Result<uint64_t> count = video->FrameCount();
    return count ? Status() : count.error();
  }
  if (request.kind == Kind::kFrameAt) {
    const Result<Frame> frame =
        video->FrameAt(static_cast<int64_t>(request.frame));
    return frame ? Status() : frame.error();
  }
  if (request.kind != Kind::kNext) return Status();
  for (uint64_t i = 0; i <= request.frame; ++i) {
    const Result<std::optional<Frame>> frame = video->Next();
    // Damage is skipped up to the frame at which the worker crashed.
    const bool damaged = !frame && frame.error().code() == Code::kBadInput;
    if (damaged && i < request.frame) continue;
    if (!frame) return frame.error();
    if (!*frame) break;
  }
  return Status();
}

// Returns a position in the media without the path of the file, which may be
// spelled differently this time.
std::string_view Place(std::string_view position) {
  const size_t comma = position.rfind(", ");
  return comma == std::string_view::npos ? position
                                         : position.substr(comma + 2);
}

bool IsSame(const ExitReport& was, const ExitReport& is) {
  return was.kind == is.kind && was.value == is.value &&
         was.syscall_number == is.syscall_number &&
         Place(was.position) == Place(is.position);
}

// Prints whether the request crashed again. `status` is the outcome of the
// repeated request, `backend` its state afterwards. Returns the exit status.
int PrintVerdict(const Crash& crash, const BackendInfo& backend,
                 const Status& status) {
  if (status.ok()) {
    Print("it did not crash this time");
    return 0;
  }
  if (const ExitReport* end = status.exit_report()) {
    Print(IsSame(crash.end, *end) ? "it crashed again, in the same way"
                                  : "it crashed again, in another way");
    Print("  before: " + crash.cause + "; " + crash.end.position);
    Print("  now:    " + status.message());
    return ExitCodeFor(Code::kBackendLost);
  }
  if (backend.state == "quarantined") {
    Say("it was not tried, since its backend is quarantined; add "
        "--despite-quarantine, or lift it first");
    return Fail(status);
  }
  const bool starting = !crash.input;
  if (starting && status.code() == Code::kBackendUnavailable) {
    Say("its backend failed to start again");
    return Fail(status);
  }
  // Errors about the input are not crashes.
  if (!starting && (status.code() == Code::kBadInput ||
                    status.code() == Code::kUnsupported ||
                    status.code() == Code::kOutOfRange)) {
    Print("it did not crash this time: " + status.message());
    return 0;
  }
  return Fail(status);
}

int RunReplay(const GlobalOptions& global, const ReplayOptions& options) {
  const Result<Crash> crash = ReadCrash(options.number);
  if (!crash) return Fail(crash.error());
  Say(fmt::format("replaying crash {}: {}", crash->number, Summary(*crash)));
  Result<std::unique_ptr<Host>> host =
      Host::Create(HostOptionsFor(global, options, *crash));
  if (!host) return Fail(host.error());
  const Result<BackendInfo> before = Find(**host, crash->backend);
  if (!before) return Fail(before.error());
  WarnOfChanges(*crash, *before);
  const Status status =
      crash->input ? Decode(**host, *crash) : Start(**host, *crash, *before);
  const Result<BackendInfo> after = Find(**host, crash->backend);
  return WorseExitCode(PrintVerdict(*crash, after ? *after : *before, status),
                       FinishPrinting());
}

}  // namespace

void AddReplayCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<ReplayOptions>(
      program, invocation, "replay",
      "Repeat the request that crashed a backend's process", kExamples,
      RunReplay);
  command
      .AddOption("N", &options.number,
                 "Number of the crash, as `bulkhead crashes` lists them")
      .Required();
  command.AddFlag("--despite-quarantine", &options.despite_quarantine,
                  "Start the backend even if it is quarantined");
}

}  // namespace bulkhead::cli::operators
