// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_jobs.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/status_macros.h"
#include "tools/cli/decode/output_words.h"

namespace bulkhead::cli::decode {
namespace {

constexpr std::string_view kName = "{name}";

// Returns `output` with each "{name}" replaced by the name of the file.
std::string OutputFor(const std::string& file, std::string output) {
  const std::string name = std::filesystem::path(file).stem().string();
  for (size_t at = 0; (at = output.find(kName, at)) != std::string::npos;
       at += name.size()) {
    output.replace(at, kName.size(), name);
  }
  return output;
}

// Returns the pattern of the output files for the frames of `file`. Parses the
// pattern first and inserts the file's name afterwards, since a percent sign in
// the name must not be read as the place of a number.
Result<writers::OutputPattern> PatternFor(const std::string& file,
                                          const std::string& output) {
  ASSIGN_OR_RETURN(writers::OutputPattern pattern,
                   writers::OutputPattern::Parse(output));
  pattern.Rewrite(
      [&](const std::string& part) { return OutputFor(file, part); });
  return pattern;
}

// Returns kInvalidArgument if two jobs have the same output file.
Status CheckDistinct(const std::vector<decoding::Job>& jobs) {
  std::map<std::string, std::string> file_of;
  for (const decoding::Job& job : jobs) {
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

// A suffix of an output file and the format that it implies.
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

// Returns the format that the suffix of the output implies; `otherwise` for an
// output without a suffix.
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

// Sets `job.audio` if the user chose --audio. Returns kInvalidArgument if other
// options do not fit.
Status ParseAudio(const DecodeOptions& options, decoding::Job& job) {
  if (!options.audio) {
    if (IsOfAudio(job.format) || options.sample_rate || options.channels) {
      return Status(Code::kInvalidArgument,
                    "wav, f32le, --sample-rate and --channels apply to audio; "
                    "add --audio");
    }
    return Status();
  }
  // Whether there is an option that applies only to pictures.
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

// Returns kInvalidArgument if --no-autoscale, with which frames may have
// different sizes, is combined with an option that needs a single size.
Status CheckSizes(const decoding::Job& job) {
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

// Sets `job.video.output_format` to RGB or native planes. The default is native
// for y4m without transforms, else RGB. Returns kInvalidArgument if other
// options do not fit.
Status ParsePixelFormat(const DecodeOptions& options, decoding::Job& job) {
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

// Parses --option into `job.video.backend_options`.
Status ParseBackendOptions(const DecodeOptions& options, decoding::Job& job) {
  for (const std::string& option : options.backend_options) {
    const size_t equals = option.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--option {}: write KEY=VALUE", option));
    }
    job.video.backend_options.emplace_back(option.substr(0, equals),
                                           option.substr(equals + 1));
  }
  return Status();
}

// Parses --frames, --at, --times and --fps.
Status ParseSelection(const DecodeOptions& options, decoding::Job& job) {
  if (!options.frames.empty()) {
    ASSIGN_OR_RETURN(job.slice, decoding::ParseSlice(options.frames));
  }
  if (!options.at.empty()) {
    ASSIGN_OR_RETURN(job.indices, decoding::ParseIndices(options.at));
  }
  if (!options.times.empty()) {
    ASSIGN_OR_RETURN(job.times, ParseTimes(options.times));
  }
  if (!options.fps.empty()) {
    ASSIGN_OR_RETURN(job.fps, ParseRate(options.fps));
  }
  return Status();
}

// Sets the output of a job for `file`. Returns kInvalidArgument if several
// frames would go to the same file.
Status SetOutput(const std::string& file, const DecodeOptions& options,
                 decoding::Job& job) {
  job.file = file;
  job.output = OutputFor(file, options.output);
  if (job.format != "png" || options.output == "-") return Status();
  ASSIGN_OR_RETURN(job.pattern, PatternFor(file, options.output));
  const bool one_frame = job.indices && job.indices->size() == 1;
  if (job.pattern.numbered() || one_frame) return Status();
  return Status(Code::kInvalidArgument,
                fmt::format("output '{}': every frame would go to the same "
                            "file; number them, as in out/%06d.png",
                            options.output));
}

}  // namespace

Result<std::vector<decoding::Job>> ParseJobs(const DecodeOptions& options) {
  decoding::Job common;
  common.video = options.video;
  common.several = options.files.size() > 1;
  RETURN_IF_ERROR(ParseBackendOptions(options, common));
  RETURN_IF_ERROR(ParseSelection(options, common));
  if (options.dtype == "float32") {
    common.video.output_dtype = OutputDtype::kFloat32;
  } else if (options.dtype == "auto") {
    common.video.output_dtype = OutputDtype::kAuto;
  }
  common.format = options.format;
  if (common.format.empty()) {
    ASSIGN_OR_RETURN(
        common.format,
        FormatOf(options.output, options.audio ? "wav" : "framemd5"));
  }
  RETURN_IF_ERROR(ParseAudio(options, common));
  if (!common.audio) {
    RETURN_IF_ERROR(CheckSizes(common));
    RETURN_IF_ERROR(ParsePixelFormat(options, common));
  }
  if (options.json && options.output == "-" && common.format != "null") {
    return Status(Code::kInvalidArgument,
                  "--json prints to stdout; name a file for the decoded data "
                  "with -o, or add --format null");
  }
  // The jobs differ only in their file and output.
  std::vector<decoding::Job> jobs;
  for (const std::string& file : options.files) {
    RETURN_IF_ERROR(SetOutput(file, options, jobs.emplace_back(common)));
  }
  RETURN_IF_ERROR(CheckDistinct(jobs));
  return jobs;
}

}  // namespace bulkhead::cli::decode
