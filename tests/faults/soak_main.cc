// SPDX-License-Identifier: Apache-2.0
//
// The soak, as a program: `tools/endure soak`, or, for other numbers,
//
//   bazel test //tests/faults:soak --test_tag_filters= --test_arg=--faults=500
//
// --start-at=N continues a run that was stopped, and --start-at=N --faults=1
// repeats a fault that failed, both with the --seed of that run. Exits with 1
// after a failure or if the resources in use have grown.

#include <chrono>
#include <cstdio>

#include "tests/faults/soak.h"
#include "tests/support/own_world.h"
#include "tools/cli/command_line.h"

namespace {

using bulkhead::tests::SoakReport;
using bulkhead::tests::SoakWindow;

// Tolerances: the resources in use by running sessions vary from moment to
// moment. 16 sessions have held between 41 and 85 MiB in windows of one run.
constexpr double kMostMoreDescriptors = 32;
constexpr double kMostMoreKib = 32 * 1024;

// Compares the second half of the run with the first. The first window is no
// reference, since a run starts with fewer resources in use.
bool IsFlat(const SoakReport& report) {
  const auto& windows = report.windows;
  const size_t half = windows.size() / 2;
  const auto grew_by = [&](double SoakWindow::*value) {
    double first = 0;
    double second = 0;
    for (size_t i = 0; i < half; ++i) {
      first += windows[i].*value;
      second += windows[windows.size() - 1 - i].*value;
    }
    return half == 0 ? 0 : (second - first) / static_cast<double>(half);
  };
  return grew_by(&SoakWindow::descriptors) < kMostMoreDescriptors &&
         grew_by(&SoakWindow::supervisor_descriptors) < kMostMoreDescriptors &&
         grew_by(&SoakWindow::resident_kib) < kMostMoreKib &&
         grew_by(&SoakWindow::supervisor_resident_kib) < kMostMoreKib;
}

}  // namespace

int main(int argc, char** argv) {
  bulkhead::tests::EnterOwnWorld();
  bulkhead::tests::SoakOptions options;
  bulkhead::cli::Command program("soak", "Random faults over many sessions");
  program.AddOption("--seed", &options.seed);
  program.AddOption("--start-at", &options.start_at);
  program.AddOption("--faults", &options.faults);
  program.AddOption("--sessions", &options.sessions);
  const bulkhead::Result<bool> parsed = program.Parse(argc, argv);
  if (!parsed) {
    std::fprintf(stderr, "%s\n", parsed.error().message().c_str());
    return 2;
  }
  if (!*parsed) return 0;
  std::printf("--seed=%llu --start-at=%llu --faults=%llu --sessions=%d\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.start_at),
              static_cast<unsigned long long>(options.faults),
              options.sessions);
  const auto began = std::chrono::steady_clock::now();
  const SoakReport report = bulkhead::tests::RunSoak(options);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - began;
  if (report.happened == 0) {
    std::printf("no fault happened: there may be no ffmpeg to make clips\n");
    return 1;
  }
  const bool flat = IsFlat(report);
  std::printf(
      "%llu faults, of which %llu happened, %llu frames, %llu restarts, %zu "
      "failures, %s, %.0f s\n",
      static_cast<unsigned long long>(report.done),
      static_cast<unsigned long long>(report.happened),
      static_cast<unsigned long long>(report.frames),
      static_cast<unsigned long long>(report.restarts), report.failures.size(),
      flat ? "flat" : "IT GREW", took.count());
  return report.failures.empty() && flat ? 0 : 1;
}
