// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/probe_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/facts.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead probe clip.mp4
  bulkhead probe clip.mp4 --json | jq .codec
  bulkhead probe clip.mp4 --count       also count the frames, by one scan

Numbers "from header" are the file's own claims; --count is the truth.)";

struct ProbeOptions {
  std::string file;
  VideoOptions video;
  bool count = false;
  bool json = false;
};

std::string OrUnknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

void SayFacts(const std::string& file, const VideoMetadata& metadata,
              std::optional<uint64_t> count) {
  Say(file);
  const auto line = [](std::string_view name, const std::string& value) {
    Say(fmt::format("  {:<13} {}", name, value));
  };
  line("container",
       fmt::format("{}, {} stream{}", OrUnknown(metadata.container),
                   metadata.stream_count,
                   metadata.stream_count == 1 ? "" : "s"));
  line("stream", fmt::format("{}, {}, {}", metadata.stream_index,
                             OrUnknown(metadata.codec),
                             OrUnknown(metadata.pixel_format)));
  std::string size = fmt::format("{}x{}", metadata.width, metadata.height);
  if (metadata.rotation != 0) {
    size += fmt::format(", after rotation by {} degrees", metadata.rotation);
  }
  if (metadata.sample_aspect_ratio.denominator != 0) {
    size += fmt::format(", pixel aspect {}:{}",
                        metadata.sample_aspect_ratio.numerator,
                        metadata.sample_aspect_ratio.denominator);
  }
  line("size", size);
  line("frame rate", metadata.average_frame_rate.denominator == 0
                         ? "unknown"
                         : fmt::format("{:.3f} (average)",
                                       metadata.average_frame_rate.value()));
  if (count) {
    line("frames", fmt::format("{}", *count));
  } else if (metadata.frame_count_from_header) {
    line("frames",
         fmt::format("{} (from header)", *metadata.frame_count_from_header));
  } else {
    line("frames", "not in the header; use --count");
  }
  if (metadata.duration_seconds_from_header) {
    line("duration", fmt::format("{:.3f} s (from header)",
                                 *metadata.duration_seconds_from_header));
  }
  if (metadata.bit_rate > 0) {
    line("bit rate", fmt::format("{} kbit/s", metadata.bit_rate / 1000));
  }
  line("decoded by", fmt::format("{} on {}", OrUnknown(metadata.backend),
                                 OrUnknown(metadata.device)));
}

int RunProbe(const GlobalOptions& global, const ProbeOptions& options) {
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  Result<VideoDecoder> video = (*host)->OpenVideo(options.file, options.video);
  if (!video) return Fail(video.error());
  std::optional<uint64_t> count;
  if (options.count) {
    Result<uint64_t> counted = video->FrameCount();
    if (!counted) return Fail(counted.error());
    count = *counted;
  }
  if (!options.json) {
    SayFacts(options.file, video->metadata(), count);
    return 0;
  }
  nlohmann::ordered_json facts = FactsOf(video->metadata());
  facts["file"] = options.file;
  facts["frame_count"] =
      count ? nlohmann::ordered_json(*count) : nlohmann::ordered_json();
  return PrintFacts(facts);
}

}  // namespace

void AddProbeCommand(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ProbeOptions>();
  CLI::App* command =
      app.add_subcommand("probe", "Say what is in a video file");
  command->footer(kExamples);
  command->add_option("FILE", options->file, "The video file")->required();
  command
      ->add_option("--device", options->video.device,
                   "Device to decode on (default cpu)")
      ->type_name("D");
  command
      ->add_option("--stream", options->video.stream_index,
                   "Index of the stream (default: the first video stream)")
      ->type_name("N");
  command->add_flag("--count", options->count, "Count the frames by a scan");
  command->add_flag("--json", options->json, "Print JSON on stdout");
  command->callback([options, &invocation] {
    invocation.run = [options, &invocation] {
      return RunProbe(invocation.global, *options);
    };
  });
}

}  // namespace bulkhead::cli
