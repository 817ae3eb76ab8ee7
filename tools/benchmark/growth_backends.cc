// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "tools/benchmark/cached_clip.h"
#include "tools/benchmark/generated_backends.h"
#include "tools/benchmark/growth.h"
#include "tools/benchmark/importlib.h"
#include "tools/benchmark/stopwatch.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kGroup[] = "bulkhead.backends";

// The figures of one round for one number of backends.
struct Step {
  double discovery_ms = 0;
  double listing_ms = 0;
  double first_stream_ms = 0;
};

// Measures finding the `count` backends in `directory`, listing them with a new
// Host, and the first frame on `device` with another new Host.
Result<Step> Measure(const HostOptions& options, const std::string& directory,
                     size_t count, const std::string& device,
                     const std::string& clip) {
  Step step;
  Clock::time_point start = Clock::now();
  const EntryPointReport found =
      FindEntryPoints(std::vector<std::string>{directory});
  step.discovery_ms = MillisecondsSince(start);
  if (found.entry_points.size() != count) {
    return Status(Code::kInternal, "not all backends were found");
  }
  start = Clock::now();
  {
    const Result<std::unique_ptr<Host>> host = Host::Create(options);
    if (!host) return host.error();
    const Result<BackendReport> report = (*host)->Backends();
    if (!report) return report.error();
    step.listing_ms = MillisecondsSince(start);
    if (report->backends.size() < count) {
      return Status(Code::kInternal, "not all backends are listed");
    }
  }
  start = Clock::now();
  const Result<std::unique_ptr<Host>> host = Host::Create(options);
  if (!host) return host.error();
  Result<VideoDecoder> video = (*host)->OpenVideo(clip, {.device = device});
  if (!video) return video.error();
  const Result<Frame> frame = NextFrame(*video);
  if (!frame) return frame.error();
  step.first_stream_ms = MillisecondsSince(start);
  return step;
}

}  // namespace

Result<Table> MeasureBackends(const GrowthOptions& options) {
  const Result<std::string> clip =
      CachedClip({.width = 64, .height = 64, .frames = 10});
  if (!clip) return clip.error();
  std::vector<int> counts = {1, 10, 100, 500};
  if (options.run.quick) counts = {1, 2};
  std::vector<GeneratedBackends> directories;
  for (const int count : counts) {
    auto generated = GeneratedBackends::Make(options.host.libexec_dir, count);
    if (!generated) return generated.error();
    directories.push_back(*std::move(generated));
  }
  Table table{.title = "Backends installed",
              .rows = {},
              .notes = {"discovery reads the metadata in this process; listing "
                        "and the first stream each start a bulkheadd first"}};
  // Round -1 is a warm-up and does not count.
  for (int round = options.run.quick ? 0 : -1; round < RoundsOf(options.run);
       ++round) {
    for (size_t i = 0; i < counts.size(); ++i) {
      HostOptions host_options = options.host;
      host_options.plugin_path = {directories[i].path()};
      const Result<Step> step = Measure(
          host_options, directories[i].path(), static_cast<size_t>(counts[i]),
          GeneratedBackends::Device(counts[i] - 1), *clip);
      if (!step) return step.error();
      const auto importlib = TimeImportlib(directories[i].path(), kGroup);
      if (!importlib) return importlib.error();
      Row& row = RowOf(table, {{"backends", counts[i]}});
      if (row.series.empty()) {
        row.series = {{"discovery", "ms", {}},
                      {"importlib.metadata", "ms", {}},
                      {"discovery / importlib", "x", {}},
                      {"listing", "ms", {}},
                      {"first stream of the last", "ms", {}}};
      }
      if (round < 0) continue;
      row.series[0].values.push_back(step->discovery_ms);
      row.series[1].values.push_back(importlib->with_versions_ms);
      row.series[2].values.push_back(step->discovery_ms /
                                     importlib->with_versions_ms);
      row.series[3].values.push_back(step->listing_ms);
      row.series[4].values.push_back(step->first_stream_ms);
    }
  }
  cli::Say("backends: done");
  return table;
}

}  // namespace bulkhead::benchmark
