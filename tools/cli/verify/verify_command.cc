// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/application/writers/picture.h"
#include "tools/cli/command_line.h"
#include "tools/cli/decode/damage_words.h"
#include "tools/cli/decode/progress.h"
#include "tools/cli/facts.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/verify/side_by_side.h"

namespace bulkhead::cli::verify {
namespace {

constexpr char kExamples[] = R"(Examples:
  bulkhead verify clip.mp4 --device acme
  bulkhead verify *.mp4 --device acme:1 --against cpu --threads 8
  bulkhead verify *.mp4 --device acme --json | jq 'select(.differing > 0)'

Decodes the video of each file on both devices at once, each in a sandboxed process
of its own, and compares every picture, number by number: RGB of 8 bits (uint8), or
float32 if the stream has more than 8 bits. With --json the output is one object for
each file.

Where only one device gives a frame, the comparison of that file ends: the devices
are out of step from there on ("complete": false).

Exit status: 0 if all pictures are equal, 4 if any differ, 2 or 3 if a file or a
device cannot be opened or fails, as "bulkhead --help" says.)";

constexpr int kDiffers = 4;

struct Options {
  std::vector<std::string> files;
  std::string device;
  std::string against = "cpu";
  uint32_t threads = 1;
  bool json = false;
};

nlohmann::ordered_json FactsOf(const Comparison& comparison) {
  using Json = nlohmann::ordered_json;
  Json first;
  if (comparison.first_difference) {
    first = {{"frame", comparison.first_difference->frame},
             {"seconds", comparison.first_difference->seconds},
             {"words", comparison.first_difference->words}};
  }
  return {{"numbers", writers::NameOf(comparison.numbers)},
          {"frames", comparison.frames},
          {"refused_by_both", comparison.refused},
          {"differing", comparison.differing},
          {"complete", comparison.complete},
          {"first_difference", first},
          {"lowest_psnr",
           comparison.lowest_psnr ? Json(*comparison.lowest_psnr) : Json()},
          {"seconds", comparison.seconds},
          {"against_seconds", comparison.against_seconds}};
}

void PrintComparison(const std::string& file, const Comparison& comparison,
                     const VideoDecoder& video, const VideoDecoder& against) {
  const std::string& device = video.metadata().device;
  const std::string& other = against.metadata().device;
  const std::string times =
      fmt::format("{} took {:.2f} s, {} {:.2f} s", device, comparison.seconds,
                  other, comparison.against_seconds);
  const char* const numbers = writers::NameOf(comparison.numbers);
  const std::string refused =
      comparison.refused == 0
          ? ""
          : fmt::format(", {} are damaged for both", comparison.refused);
  if (!comparison.first_difference) {
    Print(fmt::format("{}: {} frames are equal in {}{}; {}", file,
                      comparison.frames, numbers, refused, times));
    return;
  }
  Print(fmt::format("{}: {} of {} frames DIFFER in {}{}; {}", file,
                    comparison.differing, comparison.frames, numbers, refused,
                    times));
  Print(fmt::format("  first, frame {} at {:.3f} s, in {}",
                    comparison.first_difference->frame,
                    comparison.first_difference->seconds,
                    comparison.first_difference->words));
  if (!comparison.complete) {
    Print("  the comparison ended there, since the devices are out of step");
  }
  if (comparison.differing > 1 && comparison.lowest_psnr) {
    Print(fmt::format("  lowest PSNR {:.1f} dB", *comparison.lowest_psnr));
  }
}

Result<VideoDecoder> OpenOn(Host& host, const std::string& file,
                            const std::string& device, const Options& options) {
  return host.OpenVideo(file, {.device = device,
                               .threads = options.threads,
                               .output_dtype = OutputDtype::kAuto});
}

// Compares the two devices on one file, and prints the result. Returns the exit
// status.
int VerifyFile(Host& host, const std::string& file, const GlobalOptions& global,
               const Options& options) {
  auto video = OpenOn(host, file, options.device, options);
  if (!video) return FailFile(file, video.error(), options.json);
  auto against = OpenOn(host, file, options.against, options);
  if (!against) return FailFile(file, against.error(), options.json);
  Result<Comparison> comparison = [&] {
    decode::Progress progress(
        file, global.quiet ? decode::Progress::Shown::kNever
                           : decode::Progress::Shown::kOnTerminals);
    uint64_t frames = 0;
    return CompareSideBySide(*video, *against, [&] {
      progress.Show(++frames, video->metadata().frame_count_from_header);
    });
  }();
  if (!comparison) return FailFile(file, comparison.error(), options.json);
  if (!global.quiet) {
    // Notes are about the file, so they are the same on both devices.
    for (const std::string& line : decode::NotesIn(file, video->damage()))
      Say(line);
  }
  int printed = 0;
  if (options.json) {
    nlohmann::ordered_json facts{{"file", file},
                                 {"device", video->metadata().device},
                                 {"against", against->metadata().device}};
    facts.update(FactsOf(*comparison));
    printed = PrintFacts(facts);
  } else {
    PrintComparison(file, *comparison, *video, *against);
    printed = FinishPrinting();
  }
  return WorseExitCode(printed, comparison->first_difference ? kDiffers : 0);
}

int RunVerify(const GlobalOptions& global, const Options& options) {
  Result<std::unique_ptr<Host>> host = Host::Create(HostOptionsFrom(global));
  if (!host) return Fail(host.error());
  int exit_code = 0;
  for (const std::string& file : options.files) {
    exit_code =
        WorseExitCode(exit_code, VerifyFile(**host, file, global, options));
  }
  return exit_code;
}

}  // namespace

void AddVerifyCommand(Command& program, Invocation& invocation) {
  const auto [command, options] = AddSubcommand<Options>(
      program, invocation, "verify",
      "Compare the pictures that two devices decode", kExamples, RunVerify);
  command.AddOption("files FILE", &options.files, "The files").Required();
  command
      .AddOption("--device,-d DEVICE", &options.device, "The device to verify")
      .Required();
  command.AddOption("--against DEVICE", &options.against,
                    "The device to compare with (default cpu)");
  command.AddOption(
      "--threads N", &options.threads,
      "The threads of each decoder; 0 lets it choose (default 1)");
  command.AddFlag("--json", &options.json, "Print JSON");
}

}  // namespace bulkhead::cli::verify
