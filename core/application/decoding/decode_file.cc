// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/decode_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/application/decoding/selection.h"
#include "core/application/decoding/timed_frames.h"
#include "core/application/writers/framemd5_writer.h"
#include "core/application/writers/native_y4m_writer.h"
#include "core/application/writers/npy_writer.h"
#include "core/application/writers/null_writer.h"
#include "core/application/writers/output.h"
#include "core/application/writers/png_writer.h"
#include "core/application/writers/rawvideo_writer.h"
#include "core/application/writers/y4m_writer.h"

namespace bulkhead::decoding {
namespace {

bool IsNative(const Job& job) {
  return job.video.output_format == OutputFormat::kNative;
}

// Returns the writer for the job's format, or kInvalidArgument for an unknown
// format. `output` is null if the format has no common output file.
Result<std::unique_ptr<writers::FrameWriter>> MakeWriter(
    const Job& job, const VideoMetadata& metadata, writers::Output* output) {
  if (job.format == "null") return std::make_unique<writers::NullWriter>();
  if (job.format == "rawvideo") {
    return std::make_unique<writers::RawvideoWriter>(*output);
  }
  if (job.format == "y4m" && IsNative(job)) {
    // Like ffmpeg, y4m gets the lowest rate that all timestamps fit.
    const Ratio rate = metadata.base_frame_rate.denominator > 0
                           ? metadata.base_frame_rate
                           : metadata.average_frame_rate;
    const writers::NativeY4mWriter::Stream stream{
        .pixel_format = metadata.pixel_format,
        .width = metadata.width,
        .height = metadata.height,
        .frame_rate = job.fps.value_or(rate),
        .sample_aspect_ratio = metadata.sample_aspect_ratio,
        .color = {
            .range = static_cast<uint8_t>(metadata.color_range),
            .chroma_location = static_cast<uint8_t>(metadata.chroma_location)}};
    return std::make_unique<writers::NativeY4mWriter>(stream, *output);
  }
  if (job.format == "y4m") {
    const writers::Y4mWriter::Stream stream{
        .width = metadata.width,
        .height = metadata.height,
        .frame_rate = job.fps.value_or(metadata.average_frame_rate),
        .sample_aspect_ratio = metadata.sample_aspect_ratio};
    return std::make_unique<writers::Y4mWriter>(stream, *output);
  }
  if (job.format == "png") {
    if (output == nullptr)
      return std::make_unique<writers::PngFilesWriter>(job.pattern);
    return std::make_unique<writers::PngStreamWriter>(*output);
  }
  if (job.format == "npy") {
    return std::make_unique<writers::NpyWriter>(
        metadata.upright_width, metadata.upright_height, *output);
  }
  if (job.format == "framemd5") {
    const writers::Framemd5Writer::Stream stream{
        .width = metadata.width,
        .height = metadata.height,
        .time_base = metadata.time_base,
        .sample_aspect_ratio = metadata.sample_aspect_ratio};
    return std::make_unique<writers::Framemd5Writer>(stream, *output);
  }
  return Status(Code::kInvalidArgument, "frames have no format " + job.format);
}

// Facts about the frames that DecodeAll() has received.
struct Pass {
  uint64_t damaged = 0;               // The number of damaged frames.
  std::optional<double> end_seconds;  // The latest end of a frame.
};

Status DecodeAll(VideoDecoder& video, writers::FrameWriter& writer,
                 ProgressCounter& counter, Pass& pass) {
  while (true) {
    Result<std::optional<Frame>> frame = video.Next();
    if (!frame) return frame.error();
    if (!*frame) return writer.Finish();
    if (Status status = writer.Write(writers::PictureOf(**frame));
        !status.ok()) {
      return status;
    }
    if ((*frame)->damaged()) ++pass.damaged;
    if ((*frame)->pts()) {
      const double end = (*frame)->pts_seconds() + (*frame)->duration_seconds();
      pass.end_seconds = std::max(pass.end_seconds.value_or(end), end);
    }
    counter.Advance();
  }
}

// Decodes and writes frame `index`, or leaves it out by `on_corrupt`.
Status DecodeOne(VideoDecoder& video, uint64_t index, OnCorrupt on_corrupt,
                 writers::FrameWriter& writer, ProgressCounter& counter) {
  Result<Frame> frame = video.FrameAt(static_cast<int64_t>(index));
  if (!frame) {
    const bool damaged = frame.error().code() == Code::kBadInput;
    if (damaged && LeavesOut(on_corrupt)) return Status();
    return frame.error();
  }
  writers::Picture picture = writers::PictureOf(*frame);
  picture.index = index;
  if (Status status = writer.Write(picture); !status.ok()) return status;
  counter.Advance();
  return Status();
}

// Decodes and writes the frames that --times and --fps choose.
Status DecodeTimes(VideoDecoder& video, const Job& job,
                   writers::FrameWriter& writer, ProgressCounter& counter) {
  Result<TimedFrames> frames = TimedFrames::Create(
      video, job.times.value_or(TimeRange()), job.fps, job.video.on_corrupt);
  if (!frames) return frames.error();
  if (frames->size()) counter.set_total(*frames->size());
  while (true) {
    Result<std::optional<writers::Picture>> picture = frames->Next();
    if (!picture) return picture.error();
    if (!*picture) return writer.Finish();
    if (Status status = writer.Write(**picture); !status.ok()) return status;
    counter.Advance();
  }
}

// Decodes and writes the frames that --frames, --at, --times or --fps choose.
Status DecodeChosen(VideoDecoder& video, const Job& job,
                    writers::FrameWriter& writer, ProgressCounter& counter) {
  if (job.times || job.fps) return DecodeTimes(video, job, writer, counter);
  Result<uint64_t> count = video.FrameCount();
  if (!count) return count.error();
  if (job.slice) {
    const FrameRange range = job.slice->Resolve(*count);
    counter.set_total(range.size);
    for (uint64_t i = 0; i < range.size; ++i) {
      Status status =
          DecodeOne(video, range.at(i), job.video.on_corrupt, writer, counter);
      if (!status.ok()) return status;
    }
    return writer.Finish();
  }
  // All indices are checked first, so that a wrong one leaves no partial
  // output.
  std::vector<uint64_t> frames;
  for (int64_t index : *job.indices) {
    Result<uint64_t> frame = ResolveIndex(index, *count);
    if (!frame) return frame.error();
    frames.push_back(*frame);
  }
  counter.set_total(frames.size());
  for (uint64_t frame : frames) {
    Status status =
        DecodeOne(video, frame, job.video.on_corrupt, writer, counter);
    if (!status.ok()) return status;
  }
  return writer.Finish();
}

// Returns the number of frames in the stream, or nullopt if neither an index
// nor a complete pass has counted them.
std::optional<uint64_t> CountFrames(const VideoDecoder& video, const Job& job,
                                    const Outcome& outcome, const Pass& pass) {
  if (const auto& counted = video.metadata().frame_count_from_content) {
    return *counted;
  }
  if (job.chosen() || !outcome.status.ok()) return std::nullopt;
  // The ranges include damaged frames that were delivered, so these are not
  // counted twice.
  uint64_t frames = *outcome.frames - pass.damaged;
  for (const DamagedRange& range : outcome.damage) {
    if (!range.not_in_index) frames += range.frames;  // 0 for a note.
  }
  return frames;
}

// Returns the time at which the last frame of the stream ends, including
// damaged and missing frames; nullopt if it is unknown.
std::optional<double> EndOf(const VideoDecoder& video, const Job& job,
                            const Outcome& outcome, const Pass& pass) {
  if (job.chosen()) return video.metadata().end_seconds_from_content;
  std::optional<double> end = pass.end_seconds;
  for (const DamagedRange& range : outcome.damage) {
    if (range.kind == DamageKind::kNote || range.not_in_index ||
        !range.end_seconds) {
      continue;
    }
    end = std::max(end.value_or(*range.end_seconds), *range.end_seconds);
  }
  return end;
}

// Returns whether the stream lacks frames at its end that the header counts, as
// in a truncated file. A lower count alone proves nothing. The header also
// counts frames that an edit list hides, and leading pictures that cannot be
// decoded because the stream begins with an open GOP. In both cases the stream
// still ends at the time that the header says, or up to a frame earlier, since
// an edit list may end within a frame.
bool LacksFrames(const VideoMetadata& metadata, const Outcome& outcome,
                 std::optional<double> end) {
  const auto& counted = metadata.frame_count_from_header;
  if (!outcome.frame_count || !counted || *outcome.frame_count >= *counted) {
    return false;
  }
  const auto& duration = metadata.duration_seconds_from_header;
  // The end is unknown without a pass through the file. The count alone proves
  // nothing: for example, AVI headers also count chunks without bytes.
  if (!end) return false;
  if (!duration || !metadata.average_fps) return true;
  const double missing =
      metadata.begin_seconds_from_header.value_or(0) + *duration - *end;
  return missing * *metadata.average_fps > 1.5;
}

// Writes a line with the name of the file, above its hashes. Control characters
// are replaced, so that a name with a line feed cannot forge a hash.
Status NameFile(const std::string& file, writers::Output& output) {
  std::string name = file;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  return output.Write(fmt::format("#file: {}\n", name));
}

// Opens the common output file. Refuses to write binary data to a terminal.
Result<std::unique_ptr<writers::Output>> OpenOutput(const Job& job) {
  Result<std::unique_ptr<writers::Output>> output =
      writers::Output::Open(job.output);
  if (!output) return output.error();
  if (job.format == "framemd5") {
    if (!job.several) return output;
    if (Status status = NameFile(job.file, **output); !status.ok()) {
      return status;
    }
  } else if ((*output)->is_terminal()) {
    return Status(Code::kInvalidArgument,
                  job.format +
                      " does not go to a terminal; name a file with "
                      "-o or send it to a program");
  }
  return output;
}

// Returns the outcome of a file that failed before any frame was decoded.
Outcome Failure(Status status, bool output_failed = false) {
  return {
      .status = std::move(status), .frames = 0, .output_failed = output_failed};
}

}  // namespace

Outcome DecodeFile(Host& host, const Source& source, const Job& job,
                   Progress progress) {
  Result<VideoDecoder> video = host.OpenVideo(source, job.video);
  if (!video) return Failure(video.error());
  if (job.format == "y4m" && IsNative(job)) {
    Status status =
        writers::NativeY4mWriter::Check(video->metadata().pixel_format);
    if (!status.ok()) return Failure(status.WithContext(job.file));
  }
  // The output is opened after the input, so that a missing input does not
  // truncate an existing output.
  std::unique_ptr<writers::Output> output;
  if (!job.WritesFilesOfItsOwn()) {
    Result<std::unique_ptr<writers::Output>> opened = OpenOutput(job);
    if (!opened) return Failure(opened.error(), true);
    output = *std::move(opened);
    if (output->is_terminal()) progress = nullptr;
  }
  const Result<std::unique_ptr<writers::FrameWriter>> made =
      MakeWriter(job, video->metadata(), output.get());
  if (!made) return Failure(made.error());
  writers::FrameWriter& writer = **made;
  ProgressCounter counter(
      progress,
      job.chosen() ? std::nullopt : video->metadata().frame_count_from_header);
  Outcome outcome;
  Pass pass;
  outcome.status = job.chosen() ? DecodeChosen(*video, job, writer, counter)
                                : DecodeAll(*video, writer, counter, pass);
  outcome.output_failed = writer.output_failed();
  outcome.frames = counter.done();
  outcome.seconds = counter.seconds();
  outcome.recovery = video->recovery();
  outcome.damage = video->damage();
  outcome.frame_count_from_header = video->metadata().frame_count_from_header;
  outcome.frame_count = CountFrames(*video, job, outcome, pass);
  outcome.lacks_frames = LacksFrames(video->metadata(), outcome,
                                     EndOf(*video, job, outcome, pass));
  if (output != nullptr) {
    outcome.reader_gone = output->reader_gone();
    // Flushes the frames decoded before a failure. The status keeps that
    // failure, so an error of Close() is dropped.
    if (!outcome.status.ok() && !outcome.reader_gone) (void)output->Close();
  }
  return outcome;
}

}  // namespace bulkhead::decoding
