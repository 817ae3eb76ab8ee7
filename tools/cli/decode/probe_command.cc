// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/cli/command_line.h"
#include "tools/cli/decode/input.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::decode {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead probe clip.mp4
  bulkhead probe clip.mp4 --json | jq '.streams[].codec'
  bulkhead probe *.mp4 --count     also read every packet: count the frames,
                                   find begin and end
  curl -s URL | bulkhead probe -

Numbers "from header" are claims of the file; --count measures. With --json the
output is one object for each file.)";

struct ProbeCommandOptions {
  std::vector<std::string> files;
  ProbeOptions probe;
  bool json = false;
};

std::string OrUnknown(const std::string& text) {
  return text.empty() ? "unknown" : text;
}

std::string Seconds(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.3f} s", *seconds) : "unknown";
}

// Appends `part` to a list with commas, unless it is empty.
void AddPart(std::string& line, const std::string& part) {
  if (!part.empty()) line += (line.empty() ? "" : ", ") + part;
}

std::string DescribeVideo(const StreamMetadata& stream) {
  std::string text = stream.pixel_format;
  AddPart(text, fmt::format("{}x{}", stream.width, stream.height));
  if (stream.vertical_flip) AddPart(text, "flipped vertically");
  if (stream.rotation != 0) {
    AddPart(text, fmt::format("rotated by {} degrees", stream.rotation));
  }
  if (stream.sample_aspect_ratio.denominator != 0) {
    AddPart(text, fmt::format("pixel aspect {}:{}",
                              stream.sample_aspect_ratio.numerator,
                              stream.sample_aspect_ratio.denominator));
  }
  if (stream.average_fps) {
    AddPart(text, fmt::format("{:.3f} frames/s", *stream.average_fps));
  }
  return text;
}

std::string DescribeAudio(const StreamMetadata& stream) {
  std::string text = stream.sample_format;
  AddPart(text, fmt::format("{} Hz", stream.sample_rate));
  AddPart(text, stream.channel_layout.empty()
                    ? fmt::format("{} channels", stream.channels)
                    : stream.channel_layout);
  return text;
}

void PrintStream(const StreamMetadata& stream) {
  std::string line =
      fmt::format("  {:<3} {} {}", stream.index, StreamKindName(stream.kind),
                  OrUnknown(stream.codec));
  if (!stream.profile.empty()) line += " (" + stream.profile + ")";
  if (stream.kind == StreamKind::kVideo) AddPart(line, DescribeVideo(stream));
  if (stream.kind == StreamKind::kAudio) AddPart(line, DescribeAudio(stream));
  if (stream.is_cover) AddPart(line, "cover");
  AddPart(line, stream.language);
  AddPart(line, stream.title);
  Print(line);
  line = fmt::format("      from {:.3f} s to {}", stream.begin_seconds,
                     Seconds(stream.end_seconds));
  if (stream.frame_count_from_content) {
    AddPart(line, fmt::format("{} frames", *stream.frame_count_from_content));
  } else if (stream.frame_count_from_header) {
    AddPart(line, fmt::format("{} frames from header",
                              *stream.frame_count_from_header));
  }
  if (stream.bit_rate) {
    AddPart(line, fmt::format("{} kbit/s", *stream.bit_rate / 1000));
  }
  Print(line);
}

void PrintFile(const std::string& file, const ContainerMetadata& container) {
  std::string line = fmt::format(
      "{}: {}, {} stream{}, {}", file, OrUnknown(container.format),
      container.streams.size(), container.streams.size() == 1 ? "" : "s",
      Seconds(container.duration_seconds));
  if (container.bit_rate) {
    AddPart(line, fmt::format("{} kbit/s", *container.bit_rate / 1000));
  }
  AddPart(line, container.title);
  Print(line);
  for (const StreamMetadata& stream : container.streams) PrintStream(stream);
}

int ProbeFile(Host& host, const std::string& file,
              const ProbeCommandOptions& options) {
  Result<Source> source = OpenInput(file);
  if (!source) return FailFile(file, source.error(), options.json);
  Result<ContainerMetadata> metadata = host.Probe(*source, options.probe);
  if (!metadata) return FailFile(file, metadata.error(), options.json);
  if (!options.json) {
    PrintFile(file, *metadata);
    return FinishPrinting();
  }
  nlohmann::ordered_json facts{{"file", file}};
  facts.update(nlohmann::ordered_json::parse(ToJson(*metadata)));
  return PrintFacts(facts);
}

int RunProbe(const GlobalOptions& global, const ProbeCommandOptions& options) {
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) {
    for (const std::string& file : options.files) {
      if (options.json) PrintFailure(file, host.error());
    }
    return Fail(host.error());
  }
  int exit_code = 0;
  for (const std::string& file : options.files) {
    exit_code = WorseExitCode(exit_code, ProbeFile(**host, file, options));
  }
  return exit_code;
}

}  // namespace

void AddProbeCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<ProbeCommandOptions>(
      program, invocation, "probe", "Describe media files and their streams",
      kExamples, RunProbe);
  command.AddOption("FILE", &options.files, "Media files; - is stdin")
      .Required();
  command.AddOption("--device D", &options.probe.device,
                    "Read the file in the sandbox of this device's backend "
                    "(default cpu)");
  command.AddFlag("--count", &options.probe.scan,
                  "Read every packet: count the frames, find begin and end");
  command.AddFlag("--json", &options.json, "Print JSON on stdout");
}

}  // namespace bulkhead::cli::decode
