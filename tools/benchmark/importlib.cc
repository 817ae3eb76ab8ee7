// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/importlib.h"

#include <stdio.h>

#include <cstdlib>
#include <memory>
#include <sstream>

namespace bulkhead::benchmark {
namespace {

// The Python program that measures. It collects garbage before each call, so
// that no call pays for the garbage of another.
constexpr char kScript[] = R"(
import email, gc, platform, statistics, sys, time
from importlib import metadata
directory, group = sys.argv[1:]
sys.path[:] = [directory]

def of_group():
    return len(metadata.entry_points(group=group))

def with_versions():
    return len([(e.name, e.value, d.name, d.version)
                for d in metadata.distributions() for e in d.entry_points])

def measure(call, times):
    took = []
    for _ in range(times + 1):
        gc.collect()
        start = time.perf_counter()
        found = call()
        took.append(time.perf_counter() - start)
    print(statistics.median(took[1:]) * 1e3, found)

measure(of_group, 3)
measure(with_versions, 3)
print(platform.python_version())
)";

}  // namespace

Result<ImportlibTimes> TimeImportlib(const std::string& directory,
                                     const std::string& group) {
  // Passes the arguments in the environment, which needs no quoting.
  setenv("BENCH_SCRIPT", kScript, 1);
  setenv("BENCH_DIRECTORY", directory.c_str(), 1);
  setenv("BENCH_GROUP", group.c_str(), 1);
  struct Close {
    void operator()(FILE* stream) const { pclose(stream); }
  };
  const std::unique_ptr<FILE, Close> stream(
      popen("python3 -I -c \"$BENCH_SCRIPT\" \"$BENCH_DIRECTORY\" "
            "\"$BENCH_GROUP\"",
            "re"));
  std::string output;
  char buffer[4096];
  while (stream && fgets(buffer, sizeof(buffer), stream.get()) != nullptr) {
    output += buffer;
  }
  std::istringstream words(output);
  ImportlibTimes times;
  if (words >> times.of_group_ms >> times.of_group >> times.with_versions_ms >>
      times.all >> times.python) {
    return times;
  }
  return Status(Code::kUnsupported,
                "there is no python3 with importlib.metadata to compare with");
}

}  // namespace bulkhead::benchmark
