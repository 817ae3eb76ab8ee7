// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_job.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

namespace bulkhead::cli {
namespace {

constexpr std::string_view kName = "{name}";

std::string OutputFor(const std::string& file, std::string output) {
  const std::string name = std::filesystem::path(file).stem().string();
  for (size_t at = 0; (at = output.find(kName, at)) != std::string::npos;
       at += name.size()) {
    output.replace(at, kName.size(), name);
  }
  return output;
}

// Parses the pattern before it inserts the name of the file, since a percent
// sign in that name must not be read as the place of a number.
Result<OutputPattern> PatternFor(const std::string& file,
                                 const std::string& output) {
  Result<OutputPattern> pattern = OutputPattern::Parse(output);
  if (!pattern) return pattern.error();
  pattern->Rewrite(
      [&](const std::string& part) { return OutputFor(file, part); });
  return pattern;
}

Status CheckDistinct(const std::vector<DecodeJob>& jobs) {
  std::map<std::string, std::string> file_of;
  for (const DecodeJob& job : jobs) {
    if (job.output == "-" || job.format == "null") continue;
    const std::string output =
        std::filesystem::path(job.output).lexically_normal().string();
    const auto [other, added] = file_of.emplace(output, job.file);
    if (added) continue;
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} and {} would both go to {}; set them apart by {} in "
                    "the output, which stands for a file's name without its "
                    "extension, or decode them one after the other",
                    other->second, job.file, job.output, kName));
  }
  return Status();
}

bool IsOfAudio(const std::string& format) {
  return format == "wav" || format == "f32le";
}

// The formats that the end of a name means.
struct Suffix {
  std::string_view suffix;
  std::string_view format;
};
constexpr auto kSuffixes = std::to_array<Suffix>({
    {".png", "png"},
    {".y4m", "y4m"},
    {".yuv", "rawvideo"},
    {".rgb", "rawvideo"},
    {".md5", "framemd5"},
    {".framemd5", "framemd5"},
    {".txt", "framemd5"},
    {".wav", "wav"},
    {".f32le", "f32le"},
});

// Returns the format that the name of the output means, and `otherwise` for one
// without a suffix.
Result<std::string> FormatOf(const std::string& output,
                             const std::string& otherwise) {
  const std::string suffix =
      output == "-" ? "" : std::filesystem::path(output).extension().string();
  if (suffix.empty()) return otherwise;
  std::string known;
  for (const auto& [end, format] : kSuffixes) {
    if (end == suffix) return std::string(format);
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", end, format);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("output '{}': no format is known by the suffix {}; "
                            "known are {}; or name one with --format",
                            output, suffix, known));
}

Status ParseAudio(const DecodeOptions& options, DecodeJob& job) {
  if (!options.audio) {
    if (IsOfAudio(job.format) || options.sample_rate || options.channels) {
      return Status(Code::kInvalidArgument,
                    "wav, f32le, --sample-rate and --channels apply to audio; "
                    "add --audio");
    }
    return Status();
  }
  const bool of_frames = job.slice || job.indices || job.fps ||
                         !job.video.transforms.empty() ||
                         !options.dtype.empty() ||
                         !options.pixel_format.empty() || !job.video.autoscale;
  if ((!IsOfAudio(job.format) && job.format != "null") || of_frames) {
    return Status(Code::kInvalidArgument,
                  "audio is written as wav, f32le or null and selected by "
                  "--times; leave out --audio, or the options for pictures");
  }
  job.audio = AudioOptions{.device = options.video.device,
                           .stream_index = options.video.stream_index,
                           .stream_choice = options.video.stream_choice,
                           .sample_rate = options.sample_rate,
                           .num_channels = options.channels,
                           .on_corrupt = options.video.on_corrupt,
                           .on_failure = options.video.on_failure,
                           .backend_options = job.video.backend_options,
                           .recovery_observer = {}};
  return Status();
}

// Checks what cannot be had of frames that keep their own sizes.
Status CheckSizes(const DecodeJob& job) {
  if (job.video.autoscale) return Status();
  if (job.format == "y4m") {
    return Status(Code::kInvalidArgument,
                  "y4m has pictures of one size; leave out --no-autoscale, or "
                  "choose --format rawvideo, framemd5 or png");
  }
  if (!job.video.transforms.empty()) {
    return Status(Code::kInvalidArgument,
                  "--resize and --crop give all frames one size; leave them "
                  "out, or --no-autoscale");
  }
  return Status();
}

// Decides between RGB and native planes. y4m is native unless something asks
// for RGB.
Status ParsePixelFormat(const DecodeOptions& options, DecodeJob& job) {
  const bool floats = job.video.output_dtype != OutputDtype::kUint8;
  if (job.format == "y4m" && floats) {
    return Status(Code::kInvalidArgument,
                  "y4m holds no floats; leave out --dtype or choose --format "
                  "rawvideo");
  }
  const bool native = options.pixel_format == "native" ||
                      (options.pixel_format.empty() && job.format == "y4m" &&
                       job.video.transforms.empty());
  if (!native) return Status();
  if (job.format == "png") {
    return Status(Code::kInvalidArgument,
                  "png holds RGB; leave out --pixel-format, or choose --format "
                  "rawvideo, y4m or framemd5");
  }
  if (floats || !job.video.transforms.empty()) {
    return Status(Code::kInvalidArgument,
                  "--pixel-format native takes the planes as the decoder makes "
                  "them; leave out --resize, --crop and --dtype, or choose "
                  "--pixel-format rgb24");
  }
  job.video.output_format = OutputFormat::kNative;
  return Status();
}

}  // namespace

Result<std::vector<DecodeJob>> ParseJobs(const DecodeOptions& options) {
  DecodeJob common;
  common.video = options.video;
  common.several = options.files.size() > 1;
  for (const std::string& option : options.backend_options) {
    const size_t equals = option.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--option {}: write KEY=VALUE", option));
    }
    common.video.backend_options.emplace_back(option.substr(0, equals),
                                              option.substr(equals + 1));
  }
  if (!options.frames.empty()) {
    Result<Slice> slice = ParseSlice(options.frames);
    if (!slice) return slice.error();
    common.slice = *slice;
  }
  if (!options.at.empty()) {
    Result<std::vector<int64_t>> indices = ParseIndices(options.at);
    if (!indices) return indices.error();
    common.indices = *std::move(indices);
  }
  if (!options.times.empty()) {
    Result<TimeRange> times = ParseTimes(options.times);
    if (!times) return times.error();
    common.times = *times;
  }
  if (!options.fps.empty()) {
    Result<Ratio> fps = ParseRate(options.fps);
    if (!fps) return fps.error();
    common.fps = *fps;
  }
  if (options.dtype == "float32") {
    common.video.output_dtype = OutputDtype::kFloat32;
  } else if (options.dtype == "auto") {
    common.video.output_dtype = OutputDtype::kAuto;
  }
  common.format = options.format;
  if (common.format.empty()) {
    Result<std::string> format =
        FormatOf(options.output, options.audio ? "wav" : "framemd5");
    if (!format) return format.error();
    common.format = *std::move(format);
  }
  if (Status status = ParseAudio(options, common); !status.ok()) return status;
  if (!common.audio) {
    if (Status status = CheckSizes(common); !status.ok()) return status;
    if (Status status = ParsePixelFormat(options, common); !status.ok()) {
      return status;
    }
  }
  if (options.json && options.output == "-" && common.format != "null") {
    return Status(Code::kInvalidArgument,
                  "--json prints to stdout; name a file for the decoded data "
                  "with -o, or add --format null");
  }
  std::vector<DecodeJob> jobs;
  for (const std::string& file : options.files) {
    DecodeJob& job = jobs.emplace_back(common);
    job.file = file;
    job.output = OutputFor(file, options.output);
    if (job.format != "png" || options.output == "-") continue;
    Result<OutputPattern> pattern = PatternFor(file, options.output);
    if (!pattern) return pattern.error();
    job.pattern = *std::move(pattern);
    const bool one_frame = job.indices && job.indices->size() == 1;
    if (!job.pattern.numbered() && !one_frame) {
      return Status(Code::kInvalidArgument,
                    fmt::format("output '{}': every frame would go to the same "
                                "file; number them, as in out/%06d.png",
                                options.output));
    }
  }
  if (Status status = CheckDistinct(jobs); !status.ok()) return status;
  return jobs;
}

}  // namespace bulkhead::cli
