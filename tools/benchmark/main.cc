// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>

#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/benchmark/cached_clip.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/latency.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/throughput.h"
#include "tools/cli/demo/sample_clip.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

extern "C" {
#include <libavutil/avutil.h>
}

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures Bulkhead beside the libraries that it uses: libav in this process,
Bulkhead's cpu backend, and ffmpeg read through a pipe. All decode the same clip
with one thread of the decoder each, every byte of every frame is read, and the rounds are
interleaved. Prints medians; a ratio is the median of the ratios of each round.)";

struct Options {
  RunOptions run;
  std::string clip;
  std::string libexec;
};

struct Report {
  std::string clip;
  uint64_t clip_bytes = 0;
  Throughput throughput;
  Latency latency;
  std::vector<Series> ratios;

  std::vector<Series> all() const {
    std::vector<Series> series = {throughput.in_process,
                                  throughput.bulkhead,
                                  throughput.pipe,
                                  latency.cold_open,
                                  latency.open,
                                  latency.open_in_process,
                                  latency.worker_start,
                                  latency.recovery.next_frame,
                                  latency.recovery.recovered,
                                  latency.recovery.reopen_in_process};
    series.insert(series.end(), ratios.begin(), ratios.end());
    return series;
  }
};

Result<Report> Measure(const Options& options) {
  Report report;
  report.clip = options.clip;
  if (report.clip.empty()) {
    Result<std::string> clip = CachedClip({.width = 1920,
                                           .height = 1080,
                                           .frames = 300,
                                           .key_interval = 48,
                                           .noise_kbits = 19'000});
    if (!clip) return clip.error();
    report.clip = *clip;
  }
  std::error_code error;
  report.clip_bytes = std::filesystem::file_size(report.clip, error);

  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(options.libexec);
  Result<std::unique_ptr<Host>> host = Host::Create(host_options);
  if (!host) return host.error();
  cli::Say(fmt::format("measuring, {} rounds", options.run.rounds));
  Result<Throughput> throughput =
      MeasureThroughput(**host, report.clip, options.run.rounds);
  if (!throughput) return throughput.error();
  report.throughput = *throughput;
  Result<std::string> small_clip =
      CachedClip({.width = 64, .height = 64, .frames = 10});
  if (!small_clip) return small_clip.error();
  Result<Latency> latency =
      MeasureLatency(host_options, report.clip, throughput->frames, *small_clip,
                     options.run.rounds);
  if (!latency) return latency.error();
  report.latency = *latency;
  report.ratios = {
      Ratio("(b) / (a), aim: at least 0.95", throughput->bulkhead,
            throughput->in_process),
      Ratio("(b) / (c), aim: at least 1.3", throughput->bulkhead,
            throughput->pipe),
      Ratio("first frame, ours / in process", latency->open,
            latency->open_in_process),
      Ratio("recovery / in process, aim: below 2", latency->recovery.recovered,
            latency->recovery.reopen_in_process),
  };
  return report;
}

void PrintText(const Report& report, int rounds) {
  std::cout << fmt::format("clip: {}, {} frames, {:.1f} MB\n", report.clip,
                           report.throughput.frames,
                           static_cast<double>(report.clip_bytes) / 1e6)
            << MachineLine(fmt::format("FFmpeg {}", av_version_info()))
            << fmt::format("median of {} rounds (lowest to highest)\n", rounds);
  for (const Series& series : report.all()) {
    std::cout << LineOf(series) << '\n';
  }
}

nlohmann::ordered_json FactsOf(const Report& report, int rounds) {
  nlohmann::ordered_json machine = MachineFacts();
  machine["ffmpeg"] = av_version_info();
  return {
      {"clip",
       {{"path", report.clip},
        {"frames", report.throughput.frames},
        {"bytes", report.clip_bytes}}},
      {"machine", machine},
      {"rounds", rounds},
      {"series", FactsOf(report.all())},
  };
}

int Run(int argc, char** argv) {
  Options options;
  cli::Command program("bench", kPurpose);
  AddRunOptions(program, options.run);
  program.AddOption(
      "--clip FILE", &options.clip,
      "Use this clip of your own instead of a synthetic one; it is "
      "decoded in process, so trust it");
  AddLibexecOption(program, options.libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  Result<Report> report = Measure(options);
  if (!report) return cli::Fail(report.error());
  PrintText(*report, options.run.rounds);
  return WriteFacts(FactsOf(*report, options.run.rounds), options.run);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
