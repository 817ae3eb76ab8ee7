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
  command.AddOption("--sample-rate HZ", &options.sample_rate,
                    "Resample audio to this rate");
  command.AddOption("--channels N", &options.channels,
                    "Mix audio to N channels");
}

void AddTimeOptions(Command& command, DecodeOptions& options) {
  for (const auto& [name, value, text] :
       {std::tuple{"--times T1:T2", &options.times,
                   "Only the frames or samples of these seconds"},
        std::tuple{"--fps N", &options.fps,
                   "Repeat or drop frames to meet this rate: 25, 29.97 or "
                   "30000/1001"}}) {
    command.AddOption(name, value, text).Excludes("--frames").Excludes("--at");
  }
}

// Adds an option that appends a transform. All transforms go into one list, so
// that they keep the order in which the user typed them.
template <typename Parsed>
void AddTransformOption(Command& command, const std::string& name,
                        const std::string& value, DecodeOptions& options,
                        Result<Parsed> (*parse)(std::string_view),
                        const std::string& text) {
  command.AddAction(
      name + " " + value,
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
  AddTransformOption(command, "--resize", "WxH[:FILTER]", options, ParseResize,
                     "Resize each frame, antialiased");
  AddTransformOption(command, "--crop", "WxH[+X+Y]", options, ParseCrop,
                     "Cut out the centre, or the part that begins at X,Y");
  command
      .AddOption("--dtype uint8|float32|auto", &options.dtype,
                 "Bytes (uint8, default); floats from 0 to 1, converted with "
                 "16 bits (float32); floats only for streams of more than 8 "
                 "bits (auto)")
      .OneOf({"uint8", "float32", "auto"});
  command
      .AddOption("--pixel-format native|rgb24", &options.pixel_format,
                 "Upright RGB (rgb24, default), or the planes as the decoder "
                 "makes them (native, default of y4m)")
      .OneOf({"native", "rgb24"});
  command.AddFlag(
      "--no-autoscale", [&options] { options.video.autoscale = false; },
      "Leave each frame in its own size, and with native in its own pixel "
      "format, where the stream changes them (default: those of the first)");
}

}  // namespace

void AddDecodeOptions(Command& command, DecodeOptions& options) {
  command.AddOption("--device D", &options.video.device,
                    "Device to decode on, as `bulkhead backends` lists them "
                    "(default cpu)");
  command.AddOption("--on-failure D", &options.video.on_failure,
                    "Device on which the stream goes on, at the same frame, if "
                    "the backend of --device fails for good (default: none)");
  command.AddOption("--stream N", &options.video.stream_index,
                    "Index of the stream (default: the first of its kind)");
  command
      .AddFlag(
          "--best-stream",
          [&options] { options.video.stream_choice = StreamChoice::kBest; },
          "Decode the stream that ffmpeg chooses if it is told none: the "
          "default track, the largest picture, the highest bit rate")
      .Excludes("--stream");
  command
      .AddOption("--threads N", &options.video.threads,
                 "Threads of the decoder; with 0 the decoder chooses "
                 "(default 1)")
      .Range(0, 64);
  command
      .AddOption("--option KEY=VALUE", &options.backend_options,
                 "Pass this to the backend; may be repeated. Bulkhead's own "
                 "take the options of FFmpeg's decoders")
      .OneValueEach();
  command.AddChoice(
      "--on-corrupt HOW", &options.video.on_corrupt, crashes::kOnCorruptNames,
      "At damaged frames: error (default), skip, nearest or show");
  command.AddOption("--frames A:B:S", &options.frames,
                    "Only these frames, as a slice A:B:S");
  command
      .AddOption("--at I,J,...", &options.at,
                 "Only these frames, in this order; negatives count from "
                 "the end")
      .Excludes("--frames");
  AddTimeOptions(command, options);
  AddPictureOptions(command, options);
  AddAudioOptions(command, options);
  command
      .AddOption("--format FORMAT", &options.format,
                 "The output format; see below")
      .OneOf({"png", "rawvideo", "y4m", "framemd5", "null", "wav", "f32le"});
}

}  // namespace bulkhead::cli::decode
