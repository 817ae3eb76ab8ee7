// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "tools/cli/framemd5_writer.h"
#include "tools/cli/null_writer.h"
#include "tools/cli/output.h"
#include "tools/cli/output_pattern.h"
#include "tools/cli/png_writer.h"
#include "tools/cli/progress.h"
#include "tools/cli/rawvideo_writer.h"
#include "tools/cli/selection.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead decode clip.mp4                           hash of each frame
  bulkhead decode clip.mp4 -o out/%06d.png           every frame as a picture
  bulkhead decode clip.mp4 --at 0,-1 -o out/%06d.png   the first and the last
  bulkhead decode clip.mp4 --frames 10:20:2 --format rawvideo -o - | ./consume
  bulkhead decode clip.mp4 --device openreg:1 --format null      time it

FORMAT is one of
  framemd5   a line with the MD5 of each frame's RGB24 pixels, as FFmpeg's
             framemd5 prints it; the default
  png        files numbered by frame index; the default when OUT ends in .png
  rawvideo   RGB24 pixels, rows packed, one frame after the other
  null       nothing, but each byte is read

A:B:S is a Python slice: the end is exclusive, negatives count from the end.)";

struct DecodeOptions {
  std::string file;
  VideoOptions video;
  std::string frames;
  std::string at;
  std::string format;
  std::string output = "-";
};

// Parsed before anything is opened, so that a slip costs no decoding.
struct Job {
  std::optional<Slice> slice;
  std::optional<std::vector<int64_t>> indices;
  std::string format;
  OutputPattern pattern;
};

Result<Job> ParseJob(const DecodeOptions& options) {
  Job job;
  if (!options.frames.empty()) {
    Result<Slice> slice = ParseSlice(options.frames);
    if (!slice) return slice.error();
    job.slice = *slice;
  }
  if (!options.at.empty()) {
    Result<std::vector<int64_t>> indices = ParseIndices(options.at);
    if (!indices) return indices.error();
    job.indices = *std::move(indices);
  }
  job.format = options.format;
  if (job.format.empty()) {
    job.format = options.output.ends_with(".png") ? "png" : "framemd5";
  }
  if (job.format != "png" || options.output == "-") return job;

  Result<OutputPattern> pattern = OutputPattern::Parse(options.output);
  if (!pattern) return pattern.error();
  job.pattern = *std::move(pattern);
  const bool one_frame = job.indices && job.indices->size() == 1;
  if (!job.pattern.numbered() && !one_frame) {
    return Status(Code::kInvalidArgument,
                  fmt::format("output '{}': every frame would go to the same "
                              "file; number them, as in out/%06d.png",
                              options.output));
  }
  return job;
}

bool WritesFilesOfItsOwn(const Job& job, const DecodeOptions& options) {
  return job.format == "null" || (job.format == "png" && options.output != "-");
}

std::unique_ptr<FrameWriter> MakeWriter(const Job& job,
                                        const VideoMetadata& metadata,
                                        Output* output) {
  if (job.format == "null") return std::make_unique<NullWriter>();
  if (job.format == "rawvideo") {
    return std::make_unique<RawvideoWriter>(*output);
  }
  if (job.format == "png") {
    if (output == nullptr) return std::make_unique<PngFilesWriter>(job.pattern);
    return std::make_unique<PngStreamWriter>(*output);
  }
  Framemd5Writer::Stream stream;
  stream.width = metadata.width;
  stream.height = metadata.height;
  stream.time_base = metadata.time_base;
  stream.sample_aspect_ratio = metadata.sample_aspect_ratio;
  return std::make_unique<Framemd5Writer>(stream, *output);
}

Status DecodeAll(VideoDecoder& video, FrameWriter& writer, Progress& progress) {
  while (true) {
    Result<std::optional<Frame>> frame = video.Next();
    if (!frame) return frame.error();
    if (!*frame) return writer.Finish();
    if (Status status = writer.Write(PictureOf(**frame)); !status.ok()) {
      return status;
    }
    progress.Advance();
  }
}

Status DecodeOne(VideoDecoder& video, uint64_t index, FrameWriter& writer,
                 Progress& progress) {
  Result<Frame> frame = video.FrameAt(static_cast<int64_t>(index));
  if (!frame) return frame.error();
  Picture picture = PictureOf(*frame);
  picture.index = index;
  if (Status status = writer.Write(picture); !status.ok()) return status;
  progress.Advance();
  return Status();
}

Status DecodeChosen(VideoDecoder& video, const Job& job, FrameWriter& writer,
                    Progress& progress) {
  Result<uint64_t> count = video.FrameCount();
  if (!count) return count.error();
  if (job.slice) {
    const FrameRange range = job.slice->Resolve(*count);
    progress.set_total(range.size);
    for (uint64_t i = 0; i < range.size; ++i) {
      Status status = DecodeOne(video, range.at(i), writer, progress);
      if (!status.ok()) return status;
    }
    return writer.Finish();
  }
  // All of them are checked before the first is decoded.
  std::vector<uint64_t> frames;
  for (int64_t index : *job.indices) {
    Result<uint64_t> frame = ResolveIndex(index, *count);
    if (!frame) return frame.error();
    frames.push_back(*frame);
  }
  progress.set_total(frames.size());
  for (uint64_t frame : frames) {
    Status status = DecodeOne(video, frame, writer, progress);
    if (!status.ok()) return status;
  }
  return writer.Finish();
}

void SaySummary(const Progress& progress, const RecoveryStats& recovery,
                bool timed) {
  const double seconds = progress.seconds();
  if (timed) {
    Say(fmt::format("{} frames in {:.2f} s, {:.0f} frames/s", progress.done(),
                    seconds, static_cast<double>(progress.done()) / seconds));
  }
  if (recovery.restarts > 0) {
    Say(fmt::format("the worker was replaced {} time{}; last cause: {}",
                    recovery.restarts, recovery.restarts == 1 ? "" : "s",
                    recovery.last_cause));
  }
}

int RunDecode(const GlobalOptions& global, const DecodeOptions& options) {
  Result<Job> job = ParseJob(options);
  if (!job) return Fail(job.error());
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  Result<VideoDecoder> video = (*host)->OpenVideo(options.file, options.video);
  if (!video) return Fail(video.error());

  // The output comes after the input: a missing input truncates nothing.
  std::unique_ptr<Output> output;
  if (!WritesFilesOfItsOwn(*job, options)) {
    Result<std::unique_ptr<Output>> opened = Output::Open(options.output);
    if (!opened) return Fail(opened.error());
    output = *std::move(opened);
    if (output->is_terminal() && job->format != "framemd5") {
      return Fail(Status(Code::kInvalidArgument,
                         job->format + " does not go to a terminal; name a "
                                       "file with -o or send it to a program"));
    }
  }
  const std::unique_ptr<FrameWriter> writer =
      MakeWriter(*job, video->metadata(), output.get());

  const bool chosen = job->slice || job->indices;
  const bool stdout_is_terminal = output != nullptr && output->is_terminal();
  const bool shown = !global.quiet && !stdout_is_terminal;
  Status status;
  {
    Progress progress(shown, chosen
                                 ? std::nullopt
                                 : video->metadata().frame_count_from_header);
    status = chosen ? DecodeChosen(*video, *job, *writer, progress)
                    : DecodeAll(*video, *writer, progress);
    if (status.ok() && !global.quiet) {
      SaySummary(progress, video->recovery(),
                 job->format == "null" || (shown && StderrIsTerminal()));
    }
  }
  if (status.ok() || (output != nullptr && output->reader_gone())) return 0;
  // What was decoded before the failure is the caller's.
  if (output != nullptr) (void)output->Close();
  return Fail(status);
}

}  // namespace

void AddDecodeCommand(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DecodeOptions>();
  CLI::App* command = app.add_subcommand(
      "decode", "Decode frames to pictures, pixels or hashes");
  command->footer(kExamples);
  command->add_option("FILE", options->file, "The video file")->required();
  command
      ->add_option("--device", options->video.device,
                   "Device to decode on, as `bulkhead backends` lists them "
                   "(default cpu)")
      ->type_name("D");
  command
      ->add_option("--stream", options->video.stream_index,
                   "Index of the stream (default: the first video stream)")
      ->type_name("N");
  command
      ->add_option("--threads", options->video.threads,
                   "Threads of the decoder; 0 lets it choose (default 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 64));
  CLI::Option* frames = command
                            ->add_option("--frames", options->frames,
                                         "Only these frames, as a slice A:B:S")
                            ->type_name("A:B:S");
  command
      ->add_option("--at", options->at,
                   "Only these frames, in this order; negatives count from "
                   "the end")
      ->type_name("I,J,...")
      ->excludes(frames);
  command->add_option("--format", options->format, "What to write; see below")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"png", "rawvideo", "framemd5", "null"}));
  command
      ->add_option("-o,--output", options->output,
                   "Where to; - is stdout (default). Missing directories "
                   "are made")
      ->type_name("OUT");
  command->callback([options, &invocation] {
    invocation.run = [options, &invocation] {
      return RunDecode(invocation.global, *options);
    };
  });
}

}  // namespace bulkhead::cli
