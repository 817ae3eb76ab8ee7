// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/application/decoding/decode_audio.h"
#include "core/application/decoding/decode_file.h"
#include "tools/cli/command_line.h"
#include "tools/cli/decode/decode_jobs.h"
#include "tools/cli/decode/decode_options.h"
#include "tools/cli/decode/decode_outcome.h"
#include "tools/cli/decode/input.h"
#include "tools/cli/decode/progress.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::decode {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead decode clip.mp4                           hash of each frame
  bulkhead decode clip.mp4 -o out/%06d.png           every frame as a picture
  bulkhead decode clip.mp4 --at 0,-1 -o out/%06d.png   first and last frame
  bulkhead decode clip.mp4 --frames 10:20:2 --format rawvideo -o - | ./consume
  bulkhead decode clip.mp4 --times 10:12.5 --fps 8 -o out/%06d.png
  bulkhead decode clip.mp4 --resize 340x256 --crop 224x224 --dtype float32 \
      --format rawvideo -o frames.f32
  bulkhead decode clip.mp4 --format y4m -o - | mpv -
  bulkhead decode clip.mp4 --pixel-format native --format rawvideo -o clip.yuv
  bulkhead decode clip.mp4 --device openreg:1 --format null      measure speed
  bulkhead decode clip.mp4 --audio --times 10:20 --sample-rate 16000 -o a.wav
  bulkhead decode clip.mp4 --on-corrupt skip --format null --json | jq .damage
  bulkhead decode clip.mp4 --option skip_loop_filter=all --format null
  bulkhead decode *.mp4 -o out/{name}/%06d.png       several files
  curl -s URL | bulkhead decode -                    read a pipe

Without --format, the suffix of OUT says the format: .png, .y4m, .yuv or .rgb
(rawvideo), .md5, .framemd5 or .txt; with --audio .wav or .f32le. FORMAT is one
of
  framemd5   a line with the MD5 of each frame's pixels, as FFmpeg's framemd5
             prints it; the default
  png        files numbered by frame index; floats are written with 16 bits
  rawvideo   pixels, rows packed, one frame after the other; the only format
             that keeps floats unchanged
  y4m        for players and encoders: the planes of the decoder, exact, for
             4:2:0, 4:1:1, 4:2:2, 4:4:4 and gray; with --pixel-format rgb24,
             --resize or --crop converted back to 4:4:4 of BT.601, so not exact
  null       no output, but each byte is read
  wav        32-bit floats; the default with --audio
  f32le      32-bit floats without a header, as ffmpeg -f f32le writes them

--pixel-format native takes the planes as the decoder makes them, neither
converted nor turned upright, as `ffmpeg -noautorotate -f rawvideo` writes them;
`bulkhead probe` prints their pixel format.

Frames of a stream that changes its size are scaled to that of the first one.
With --no-autoscale, as with `ffmpeg -noautoscale`, each keeps its own: rawvideo
has them one after the other, as many bytes each as framemd5 says. y4m cannot.

A:B:S is a Python slice: the end is exclusive, negatives count from the end.
T1:T2 are seconds on the clock of the file: the frames on the screen, or with
--audio the samples heard, from T1 until T2. With --fps frames are repeated or
dropped to meet the rate, and numbered from 0.

--resize and --crop may be repeated and are applied in the order given, in the
sandboxed worker, after rotation.

If one of several files fails, the others are decoded all the same. {name} in
OUT stands for the name of the file without directory and extension; two files
with the same output are an error. On stdout the outputs follow one another, and
with framemd5 each begins with a line "#file: NAME". The exit status is that of
the worst failure: 1 if there is any, else the highest.)";

// Returns a function that draws the progress bar of `job`. The first call makes
// the bar, and the destruction of the function erases the bar. `job` must
// outlive the function.
decoding::Progress BarOf(const decoding::Job& job, Progress::Shown shown) {
  return [&job, shown, bar = std::shared_ptr<Progress>()](
             uint64_t done, std::optional<uint64_t> total) mutable {
    if (!bar) {
      bar = std::make_shared<Progress>(job.file, shown,
                                       job.audio ? "seconds" : "frames");
    }
    bar->Show(done, total);
  };
}

decoding::Outcome Decode(Host& host, const decoding::Job& job,
                         Progress::Shown shown) {
  const Result<Source> source = OpenInput(job.file);
  if (!source) return {.status = source.error()};
  return job.audio
             ? decoding::DecodeAudio(host, *source, job, BarOf(job, shown))
             : decoding::DecodeFile(host, *source, job, BarOf(job, shown));
}

// Decodes one file after the other and reports each result. Returns the exit
// status.
int RunDecode(const GlobalOptions& global, const DecodeOptions& options) {
  Result<std::vector<decoding::Job>> jobs = ParseJobs(options);
  if (!jobs) return Fail(jobs.error());
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) {
    if (options.json) {
      for (const decoding::Job& job : *jobs) {
        (void)PrintFacts(FactsOf(job, {.status = host.error()}));
      }
    }
    return Fail(host.error());
  }

  Progress::Shown shown = Progress::Shown::kOnTerminals;
  if (options.progress) shown = Progress::Shown::kAlways;
  if (global.quiet) shown = Progress::Shown::kNever;
  // Whether a person sees stderr. If so, each file gets a summary.
  const bool watched =
      !global.quiet && (StderrIsTerminal() || options.progress);
  int exit_code = 0;
  decoding::Outcome sum{.frames = 0};
  std::vector<std::string> failed;
  for (const decoding::Job& job : *jobs) {
    decoding::Outcome outcome = Decode(**host, job, shown);
    // Nobody reads the output of the other files, for example after `head`.
    if (outcome.reader_gone) return exit_code;
    SayDamage(job, outcome);
    if (!global.quiet) SayNotes(job, outcome);
    if (options.json) {
      exit_code = WorseExitCode(exit_code, PrintFacts(FactsOf(job, outcome)));
    }
    *sum.frames += outcome.frames.value_or(0);
    sum.seconds += outcome.seconds;
    if (!outcome.status.ok()) {
      exit_code = WorseExitCode(exit_code, Fail(outcome.status));
      failed.push_back(job.file);
      continue;
    }
    if (global.quiet) continue;
    // The summary is the only output of a single file with --format null.
    if (watched || (!job.several && job.format == "null")) {
      Say((job.several ? job.file + ": " : "") +
          DescribeWork(outcome, options.audio));
    }
    SayRecoveries(job, outcome.recovery);
  }
  if (jobs->size() > 1 && !global.quiet) {
    Say(fmt::format("{} of {} files: {}", jobs->size() - failed.size(),
                    jobs->size(), DescribeWork(sum, options.audio)));
    if (!failed.empty()) {
      Say(fmt::format("failed: {}", fmt::join(failed, ", ")));
    }
  }
  return exit_code;
}

}  // namespace

void AddDecodeCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<DecodeOptions>(
      program, invocation, "decode",
      "Decode frames to pictures, pixels or hashes", kExamples, RunDecode);
  command.AddOption("FILE", &options.files, "The video files; - is stdin")
      .Required();
  AddDecodeOptions(command, options);
  command.AddOption("-o,--output OUT", &options.output,
                    "The output; - is stdout (default). Missing directories "
                    "are created; {name} is the name of the input file");
  command.AddFlag("--json", &options.json,
                  "Print JSON on stdout: the result of each file, with its "
                  "damage and notes");
  command.AddFlag("--progress", &options.progress,
                  "Show a progress bar for each file, also where stderr is "
                  "no terminal");
}

}  // namespace bulkhead::cli::decode
