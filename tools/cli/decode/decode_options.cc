// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_options.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tools/cli/decode/output_words.h"

namespace bulkhead::cli {
namespace {

void AddAudioOptions(CLI::App& command, DecodeOptions& options) {
  command.add_flag("--audio", options.audio,
                   "Decode the (first) audio stream instead");
  command
      .add_option("--sample-rate", options.sample_rate,
                  "Resample audio to this rate")
      ->type_name("HZ");
  command.add_option("--channels", options.channels, "Mix audio to N channels")
      ->type_name("N");
}

void AddTimeOptions(CLI::App& command, DecodeOptions& options) {
  for (const auto& [name, value, type, text] :
       {std::tuple{"--times", &options.times, "T1:T2",
                   "Only the frames or samples of these seconds"},
        std::tuple{"--fps", &options.fps, "N",
                   "Repeat or drop frames to meet this rate: 25, 29.97 or "
                   "30000/1001"}}) {
    command.add_option(name, *value, text)
        ->type_name(type)
        ->excludes(command.get_option("--frames"))
        ->excludes(command.get_option("--at"));
  }
}

// Adds an option that appends a transform. CLI11 runs the callback while it
// parses, so that transforms keep the order in which the user typed them.
template <typename Parsed>
CLI::Option* AddTransformOption(CLI::App& command, const std::string& name,
                                DecodeOptions& options,
                                Result<Parsed> (*parse)(std::string_view),
                                const std::string& text) {
  return command
      .add_option_function<std::string>(
          name,
          [&options, name, parse](const std::string& word) {
            const Result<Parsed> transform = parse(word);
            if (!transform) {
              throw CLI::ValidationError(transform.error().message());
            }
            options.video.transforms.push_back(*transform);
            options.transform_words.push_back(name + " " + word);
          },
          text)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->trigger_on_parse();
}

void AddPictureOptions(CLI::App& command, DecodeOptions& options) {
  AddTransformOption(command, "--resize", options, ParseResize,
                     "Resize each frame, antialiased")
      ->type_name("WxH[:FILTER]");
  AddTransformOption(command, "--crop", options, ParseCrop,
                     "Cut out the centre, or the part that begins at X,Y")
      ->type_name("WxH[+X+Y]");
  command
      .add_option("--dtype", options.dtype,
                  "Bytes (uint8, default); floats from 0 to 1, converted with "
                  "16 bits (float32); floats only for streams of more than 8 "
                  "bits (auto)")
      ->type_name("uint8|float32|auto")
      ->check(CLI::IsMember({"uint8", "float32", "auto"}));
  command
      .add_option("--pixel-format", options.pixel_format,
                  "Upright RGB (rgb24, default), or the planes as the decoder "
                  "makes them (native, default of y4m)")
      ->type_name("native|rgb24")
      ->check(CLI::IsMember({"native", "rgb24"}));
  command.add_flag_callback(
      "--no-autoscale", [&options] { options.video.autoscale = false; },
      "Leave each frame in its own size, and with native in its own pixel "
      "format, where the stream changes them (default: those of the first)");
}

}  // namespace

void AddDecodeOptions(CLI::App& command, DecodeOptions& options) {
  command
      .add_option("--device", options.video.device,
                  "Device to decode on, as `bulkhead backends` lists them "
                  "(default cpu)")
      ->type_name("D");
  command
      .add_option("--on-failure", options.video.on_failure,
                  "Device on which the stream goes on, at the same frame, if "
                  "the backend of --device fails for good (default: none)")
      ->type_name("D");
  command
      .add_option("--stream", options.video.stream_index,
                  "Index of the stream (default: the first of its kind)")
      ->type_name("N");
  command
      .add_flag_callback(
          "--best-stream",
          [&options] { options.video.stream_choice = StreamChoice::kBest; },
          "Decode the stream that ffmpeg chooses if it is told none: the "
          "default track, the largest picture, the highest bit rate")
      ->excludes("--stream");
  command
      .add_option("--threads", options.video.threads,
                  "Threads of the decoder; with 0 the decoder chooses "
                  "(default 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 64));
  command
      .add_option("--option", options.backend_options,
                  "Pass this to the backend; may be repeated. Bulkhead's own "
                  "take the options of FFmpeg's decoders")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--on-corrupt", options.video.on_corrupt,
                  "At damaged frames: error (default), skip, nearest or show")
      ->type_name("HOW")
      ->transform(CLI::Transformer(
          std::map<std::string, OnCorrupt>{{"error", OnCorrupt::kError},
                                           {"skip", OnCorrupt::kSkip},
                                           {"nearest", OnCorrupt::kNearest},
                                           {"show", OnCorrupt::kShow}}))
      // Checks the word before the Transformer above maps it: CLI11 runs the
      // validator added last first. A check() would run after both.
      ->transform(CLI::IsMember({"error", "skip", "nearest", "show"}));
  CLI::Option* frames = command
                            .add_option("--frames", options.frames,
                                        "Only these frames, as a slice A:B:S")
                            ->type_name("A:B:S");
  command
      .add_option("--at", options.at,
                  "Only these frames, in this order; negatives count from "
                  "the end")
      ->type_name("I,J,...")
      ->excludes(frames);
  AddTimeOptions(command, options);
  AddPictureOptions(command, options);
  AddAudioOptions(command, options);
  command
      .add_option("--format", options.format, "The output format; see below")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(
          {"png", "rawvideo", "y4m", "framemd5", "null", "wav", "f32le"}));
}

}  // namespace bulkhead::cli
