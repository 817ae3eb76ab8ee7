// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_options.h"

#include <string>
#include <tuple>
#include <vector>

#include "core/crashes/option_names.h"
#include "tools/cli/command_line.h"
#include "tools/cli/decode/output_words.h"

namespace bulkhead::cli::decode {
namespace {

void AddAudioOptions(Command& command, DecodeOptions& options) {
  command.AddFlag("--audio", &options.audio,
                  "Decode the (first) audio stream instead");
  command
      .AddOption("--sample-rate", &options.sample_rate,
                 "Resample audio to this rate")
      .ValueName("HZ");
  command.AddOption("--channels", &options.channels, "Mix audio to N channels")
      .ValueName("N");
}

void AddTimeOptions(Command& command, DecodeOptions& options) {
  for (const auto& [name, value, type, text] :
       {std::tuple{"--times", &options.times, "T1:T2",
                   "Only the frames or samples of these seconds"},
        std::tuple{"--fps", &options.fps, "N",
                   "Repeat or drop frames to meet this rate: 25, 29.97 or "
                   "30000/1001"}}) {
    command.AddOption(name, value, text)
        .ValueName(type)
        .Excludes("--frames")
        .Excludes("--at");
  }
}

// Adds an option that appends a transform. All transforms go into one list, so
// that they keep the order in which the user typed them.
template <typename Parsed>
Option AddTransformOption(Command& command, const std::string& name,
                          DecodeOptions& options,
                          Result<Parsed> (*parse)(std::string_view),
                          const std::string& text) {
  return command.AddAction(
      name,
      [&options, name, parse](const std::string& word) {
        const Result<Parsed> transform = parse(word);
        if (!transform) return transform.error();
        options.video.transforms.push_back(*transform);
        options.transform_words.push_back(name + " " + word);
        return Status();
      },
      text);
}

void AddPictureOptions(Command& command, DecodeOptions& options) {
  AddTransformOption(command, "--resize", options, ParseResize,
                     "Resize each frame, antialiased")
      .ValueName("WxH[:FILTER]");
  AddTransformOption(command, "--crop", options, ParseCrop,
                     "Cut out the centre, or the part that begins at X,Y")
      .ValueName("WxH[+X+Y]");
  command
      .AddOption("--dtype", &options.dtype,
                 "Bytes (uint8, default); floats from 0 to 1, converted with "
                 "16 bits (float32); floats only for streams of more than 8 "
                 "bits (auto)")
      .ValueName("uint8|float32|auto")
      .OneOf({"uint8", "float32", "auto"});
  command
      .AddOption("--pixel-format", &options.pixel_format,
                 "Upright RGB (rgb24, default), or the planes as the decoder "
                 "makes them (native, default of y4m)")
      .ValueName("native|rgb24")
      .OneOf({"native", "rgb24"});
  command.AddFlag(
      "--no-autoscale", [&options] { options.video.autoscale = false; },
      "Leave each frame in its own size, and with native in its own pixel "
      "format, where the stream changes them (default: those of the first)");
}

}  // namespace

void AddDecodeOptions(Command& command, DecodeOptions& options) {
  command
      .AddOption("--device", &options.video.device,
                 "Device to decode on, as `bulkhead backends` lists them "
                 "(default cpu)")
      .ValueName("D");
  command
      .AddOption("--on-failure", &options.video.on_failure,
                 "Device on which the stream goes on, at the same frame, if "
                 "the backend of --device fails for good (default: none)")
      .ValueName("D");
  command
      .AddOption("--stream", &options.video.stream_index,
                 "Index of the stream (default: the first of its kind)")
      .ValueName("N");
  command
      .AddFlag(
          "--best-stream",
          [&options] { options.video.stream_choice = StreamChoice::kBest; },
          "Decode the stream that ffmpeg chooses if it is told none: the "
          "default track, the largest picture, the highest bit rate")
      .Excludes("--stream");
  command
      .AddOption("--threads", &options.video.threads,
                 "Threads of the decoder; with 0 the decoder chooses "
                 "(default 1)")
      .ValueName("N")
      .Range(0, 64);
  command
      .AddOption("--option", &options.backend_options,
                 "Pass this to the backend; may be repeated. Bulkhead's own "
                 "take the options of FFmpeg's decoders")
      .ValueName("KEY=VALUE")
      .OneValueEach();
  command
      .AddChoice("--on-corrupt", &options.video.on_corrupt,
                 crashes::kOnCorruptNames,
                 "At damaged frames: error (default), skip, nearest or show")
      .ValueName("HOW");
  command
      .AddOption("--frames", &options.frames,
                 "Only these frames, as a slice A:B:S")
      .ValueName("A:B:S");
  command
      .AddOption("--at", &options.at,
                 "Only these frames, in this order; negatives count from "
                 "the end")
      .ValueName("I,J,...")
      .Excludes("--frames");
  AddTimeOptions(command, options);
  AddPictureOptions(command, options);
  AddAudioOptions(command, options);
  command.AddOption("--format", &options.format, "The output format; see below")
      .ValueName("FORMAT")
      .OneOf({"png", "rawvideo", "y4m", "framemd5", "null", "wav", "f32le"});
}

}  // namespace bulkhead::cli::decode
