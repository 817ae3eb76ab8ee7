// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/discovery/entry_points.h"
#include "core/discovery/scan.h"
#include "core/discovery/scan_cache.h"
#include "ipc/unique_fd.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/importlib.h"
#include "tools/benchmark/series.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr char kPurpose[] =
    R"(Measures how long it takes to find the entry points of one group among
generated distributions: by Python's importlib.metadata, by a scan of Bulkhead, by
a second scan when nothing has changed, and by as many bare lstat calls. One
thread each, all files in the page cache, the rounds interleaved. Prints medians; a
ratio is the median of the ratios of each round.)";

struct Options {
  RunOptions run;
  std::vector<int> sizes = {50, 700, 2000};
};

// A temporary directory with generated distributions. Each has a METADATA of
// 3 kB, a console script and an entry point of another group; every 50th also
// has a backend. The destructor removes the directory.
class GeneratedDirectory {
 public:
  explicit GeneratedDirectory(int distributions) {
    std::string path = fs::temp_directory_path() / "bulkhead-bench-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    for (int i = 0; i < distributions; ++i) Write(i);
  }
  GeneratedDirectory(const GeneratedDirectory&) = delete;
  GeneratedDirectory& operator=(const GeneratedDirectory&) = delete;
  ~GeneratedDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  void Write(int i) const {
    const std::string version = fmt::format("{}.{}.0", i % 7, i % 13);
    const std::string folder =
        fmt::format("{}/package_{:05}-{}.dist-info", path_, i, version);
    fs::create_directory(folder);
    std::string metadata = fmt::format(
        "Metadata-Version: 2.1\nName: package-{:05}\nVersion: {}\n"
        "Summary: generated\n",
        i, version);
    for (int line = 0; line < 20; ++line) {
      metadata += "Classifier: Programming Language :: Python\n";
    }
    metadata += "\n";
    while (metadata.size() < 3000) metadata += "Lines of a description.\n";
    std::ofstream(folder + "/METADATA") << metadata;
    std::ofstream entry_points(folder + "/entry_points.txt");
    entry_points << fmt::format(
        "[console_scripts]\ntool-{0} = package_{0}.cli:main\n\n"
        "[some.plugins]\nplugin-{0} = package_{0}.plugin:Plugin\n",
        i);
    if (i % 50 == 0) {
      entry_points << fmt::format("\n[{}]\nbackend-{} = package_{}:load\n",
                                  discovery::kBackendGroup, i, i);
    }
    std::ofstream(folder + "/RECORD") << "";
  }

  std::string path_;
};

// The figures for one number of distributions.
struct Measured {
  int distributions = 0;
  std::string python;
  Series importlib{"importlib.metadata, one group", "ms", {}};
  Series scan{"Bulkhead, one group", "ms", {}};
  Series rescan{"Bulkhead again, one group, no change", "ms", {}};
  Series importlib_all{"importlib.metadata, all, with versions", "ms", {}};
  Series scan_all{"Bulkhead, all, with versions", "ms", {}};
  Series rescan_all{"Bulkhead again, all, no change", "ms", {}};
  Series stat{"one lstat for each distribution", "ms", {}};

  std::vector<Series> Report() const {
    std::vector<Series> series = {importlib, scan,       rescan, importlib_all,
                                  scan_all,  rescan_all, stat};
    series.push_back(
        Ratio("importlib / ours, one group, aim: 5", importlib, scan));
    series.push_back(Ratio("... again, no change, aim: 15", importlib, rescan));
    series.push_back(Ratio("importlib / ours, all", importlib_all, scan_all));
    series.push_back(
        Ratio("importlib, one group / ours again, all", importlib, rescan_all));
    series.push_back(Ratio("importlib, one group / lstat", importlib, stat));
    return series;
  }
};

// Returns the median time of three calls after a warm-up call, as TimeImportlib
// does.
double Milliseconds(const std::function<void()>& work) {
  Series took;
  work();
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point start = Clock::now();
    work();
    took.values.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  return took.Median();
}

// Returns the number of entry points of the group, or of all groups if `group`
// is empty.
size_t EntryPointsIn(const discovery::Scan& scan, std::string_view group) {
  size_t count = 0;
  for (const discovery::Distribution& distribution : scan.distributions) {
    for (const EntryPoint& entry_point : distribution.entry_points) {
      if (group.empty() || entry_point.group == group) ++count;
    }
  }
  return count;
}

// Returns the path of each distribution's entry_points.txt.
std::vector<std::string> FilesIn(const discovery::Scan& scan) {
  std::vector<std::string> files;
  for (const discovery::Distribution& distribution : scan.distributions) {
    files.push_back(distribution.dist_info + "/entry_points.txt");
  }
  return files;
}

// Measures `measured.distributions` generated distributions, and adds one value
// of each round to every series.
Status Measure(int rounds, Measured& measured) {
  const GeneratedDirectory directory(measured.distributions);
  const std::vector<discovery::SearchDirectory> path = {
      {directory.path(), "generated"}};
  const std::string group(discovery::kBackendGroup);
  const discovery::ScanOptions of_group{.group = group};
  discovery::ScanCache cache(of_group);
  discovery::ScanCache cache_all;
  const ipc::UniqueFd fd(
      open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::vector<std::string> files =
      FilesIn(discovery::ScanPluginPath(path));
  if (files.size() != static_cast<size_t>(measured.distributions)) {
    return Status(Code::kInternal, "not all of what was generated was found");
  }
  // A ScanCache trusts the modification time of a folder only after a while.
  // Rescans until a rescan finds all folders in the cache, and reads none.
  do {
    cache.Rescan(path);
    cache_all.Rescan(path);
  } while (cache.folders_read() + cache_all.folders_read() > 0);

  for (int round = 0; round < rounds; ++round) {
    discovery::Scan found;
    discovery::Scan all;
    measured.scan.values.push_back(Milliseconds(
        [&] { found = discovery::ScanPluginPath(path, of_group); }));
    measured.rescan.values.push_back(Milliseconds([&] { cache.Rescan(path); }));
    measured.scan_all.values.push_back(
        Milliseconds([&] { all = discovery::ScanPluginPath(path); }));
    measured.rescan_all.values.push_back(
        Milliseconds([&] { cache_all.Rescan(path); }));
    measured.stat.values.push_back(Milliseconds([&] {
      struct stat info;
      for (const std::string& file : files) {
        if (fstatat(fd.get(), file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
          return;
        }
      }
    }));
    if (cache.folders_read() + cache_all.folders_read() > 0) {
      return Status(Code::kInternal, "something changed while it was measured");
    }
    Result<ImportlibTimes> theirs = TimeImportlib(directory.path(), group);
    if (!theirs) return theirs.error();
    if (theirs->of_group != EntryPointsIn(found, group) ||
        theirs->all != EntryPointsIn(all, "")) {
      return Status(Code::kInternal, "importlib.metadata found others");
    }
    measured.importlib.values.push_back(theirs->of_group_ms);
    measured.importlib_all.values.push_back(theirs->with_versions_ms);
    measured.python = theirs->python;
  }
  return Status();
}

nlohmann::ordered_json FactsOf(
    const std::vector<std::unique_ptr<Measured>>& all, int rounds) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const auto& measured : all) {
    sizes.push_back({{"distributions", measured->distributions},
                     {"series", FactsOf(measured->Report())}});
  }
  nlohmann::ordered_json machine = MachineFacts();
  machine["python"] = all.front()->python;
  return {{"machine", machine}, {"rounds", rounds}, {"sizes", sizes}};
}

int Run(int argc, char** argv) {
  Options options;
  cli::Command program("bench --discovery", kPurpose);
  AddRunOptions(program, options.run);
  program
      .AddOption("--distributions N", &options.sizes,
                 "How many, repeatable (default 50, 700 and 2000)")
      .Range(1, 100'000)
      .OneValueEach();
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  std::vector<std::unique_ptr<Measured>> all;
  for (const int distributions : options.sizes) {
    cli::Say(fmt::format("measuring {} distributions, {} rounds", distributions,
                         options.run.rounds));
    Measured& measured = *all.emplace_back(std::make_unique<Measured>());
    measured.distributions = distributions;
    if (Status status = Measure(options.run.rounds, measured); !status.ok()) {
      return cli::Fail(status);
    }
  }
  std::cout << MachineLine("Python " + all.front()->python)
            << fmt::format("median of {} rounds (lowest to highest)\n",
                           options.run.rounds);
  for (const auto& measured : all) {
    std::cout << fmt::format("\n{} distributions\n", measured->distributions);
    for (const Series& series : measured->Report()) {
      std::cout << LineOf(series) << '\n';
    }
  }
  return WriteFacts(FactsOf(all, options.run.rounds), options.run);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
