// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/reading_bounds.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "core/discovery/common_files.h"
#include "core/discovery/discover.h"

namespace bulkhead::discovery {
namespace {

// The cost of a byte of a manifest, compared with a byte of RECORD. The
// manifest is parsed for each backend, which takes much longer than reading
// rows.
constexpr size_t kManifestWeight = 8;

// Returns the cost of reading a distribution's files, in bytes of RECORD.
size_t CostOf(const Distribution& distribution, size_t backends) {
  // Returns the bytes to read of a file: at most `most`; 0 if it is missing.
  const auto size_of = [&](const std::string& name, size_t most) -> size_t {
    struct stat info = {};
    if (lstat((distribution.dist_info_path() + "/" + name).c_str(), &info) !=
        0) {
      return 0;
    }
    // The size of a link says nothing about its target.
    return S_ISREG(info.st_mode)
               ? std::min(static_cast<size_t>(info.st_size), most)
               : most;
  };
  return size_of("RECORD", kMaxBackendsRecordBytes) +
         kManifestWeight * backends *
             size_of("bulkhead.toml", kMaxManifestBytes);
}

// Returns the time of the last change of the dist-info folder. Only the kernel
// sets this time, so no archive can forge an old one.
int64_t InstalledNs(const Distribution& distribution) {
  struct stat info = {};
  if (lstat(distribution.dist_info_path().c_str(), &info) != 0) return 0;
  return int64_t{info.st_ctim.tv_sec} * 1'000'000'000 + info.st_ctim.tv_nsec;
}

// The cost of reading the files of one distribution.
struct Cost {
  bool of_others;  // False for Bulkhead's own distributions.
  size_t bytes;
  int64_t installed_ns;
  size_t index;  // In Scan::distributions.
  size_t backends;
};

// Returns what it costs to read each distribution that has backends in use.
std::vector<Cost> CostsOf(const Scan& scan, const Selection& selection,
                          const std::vector<ExplicitLoad>& loads) {
  std::vector<Cost> costs;
  for (size_t i = 0; i < scan.distributions.size(); ++i) {
    const Distribution& distribution = scan.distributions[i];
    const bool built_in = scan.places[distribution.place].directory.built_in;
    const bool loaded =
        std::any_of(loads.begin(), loads.end(), [&](const auto& load) {
          return load.MayChoose(distribution.dist_info_path());
        });
    size_t backends = 0;
    for (const EntryPoint& entry_point : distribution.entry_points) {
      // A loaded distribution is used even if autoload is off, as if built in.
      if (entry_point.group == kBackendGroup && backends < kMaxBackendsOfOne &&
          !selection.RuleAgainst(entry_point.name, built_in || loaded)) {
        ++backends;
      }
    }
    if (backends == 0) continue;
    costs.push_back({!built_in, CostOf(distribution, backends),
                     InstalledNs(distribution), i, backends});
  }
  return costs;
}

}  // namespace

std::vector<std::string> Refusals(const Scan& scan, const Selection& selection,
                                  const std::vector<ExplicitLoad>& loads) {
  std::vector<Cost> costs = CostsOf(scan, selection, loads);
  std::vector<std::string> refusals(scan.distributions.size());
  const std::string refusal =
      "its files were not read, since too much is installed: RECORD and "
      "bulkhead.toml of all packages with backends may have " +
      std::to_string(kMaxBytesOfAll) + " bytes, those of bulkhead.toml " +
      std::to_string(kManifestWeight) +
      " times for each backend, and there may be " +
      std::to_string(kMaxBackendsOfAll) +
      " backends, of which the smaller and the older ones come first; "
      "uninstall some, or choose with " +
      selection.enabled_rule;
  // The first half goes to the distributions that cost least.
  std::sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) {
    return std::tie(a.of_others, a.bytes, a.index) <
           std::tie(b.of_others, b.bytes, b.index);
  });
  size_t bytes = 0;
  size_t backends = 0;
  const auto smaller_end =
      std::find_if(costs.begin(), costs.end(), [&](const Cost& cost) {
        bytes += cost.bytes;
        backends += cost.backends;
        return bytes > kMaxBytesOfAll / 2 || backends > kMaxBackendsOfAll / 2;
      });
  // The other half goes to the distributions that were installed first: a mass
  // of small packages that is installed later cannot take it.
  std::sort(smaller_end, costs.end(), [](const Cost& a, const Cost& b) {
    return std::tie(a.installed_ns, a.index) <
           std::tie(b.installed_ns, b.index);
  });
  bytes = kMaxBytesOfAll / 2;
  backends = kMaxBackendsOfAll / 2;
  for (auto cost = smaller_end; cost != costs.end(); ++cost) {
    // A package that does not fit is skipped, and smaller ones after it may
    // still fit.
    if (bytes + cost->bytes > kMaxBytesOfAll ||
        backends + cost->backends > kMaxBackendsOfAll) {
      refusals[cost->index] = refusal;
      continue;
    }
    bytes += cost->bytes;
    backends += cost->backends;
  }
  return refusals;
}

}  // namespace bulkhead::discovery
