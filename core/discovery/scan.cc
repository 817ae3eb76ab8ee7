// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/text.h"
#include "core/discovery/package_version.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {
namespace {

bool IsBetter(const Distribution& a, const Distribution& b) {
  if (a.has_metadata != b.has_metadata) return a.has_metadata;
  return CompareVersions(a.version, b.version) > 0;
}

std::string Count(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void MoveTo(Diagnostics& target, Diagnostics&& diagnostics) {
  std::move(diagnostics.begin(), diagnostics.end(), std::back_inserter(target));
}

// Combines the readings of directories, which are added in order of precedence,
// to a scan. Of several distributions with one name, Contend() picks the best
// within a directory, and Adopt() keeps the first between directories.
class Assembler {
 public:
  void Add(PlaceReading reading) {
    MoveTo(result_.diagnostics, std::move(reading.diagnostics));
    MoveTo(result_.diagnostics, std::move(reading.listing.diagnostics));
    SearchedPlace& place =
        result_.places.emplace_back(std::move(reading.place));
    if (!place.searched) return;

    // Keys are views of the distributions' own strings, so every look-up comes
    // before the first distribution is moved.
    std::unordered_map<std::string_view, Distribution*> best;
    for (size_t i = 0; i < reading.folders.size(); ++i) {
      FolderReading& folder = reading.folders[i];
      MoveTo(result_.diagnostics, std::move(folder.diagnostics));
      if (folder.distribution && reading.listing.folders[i].has_rival) {
        Contend(*folder.distribution, best);
      }
    }
    // A folder wins if it has no rival or is the best among its rivals.
    std::vector<Distribution*> winners;
    winners.reserve(reading.folders.size());
    for (FolderReading& folder : reading.folders) {
      if (!folder.distribution) continue;
      const auto found = best.find(folder.distribution->normalized_name);
      if (found == best.end() || found->second == &*folder.distribution) {
        winners.push_back(&*folder.distribution);
      }
    }
    const size_t most = result_.distributions.size() + winners.size();
    result_.distributions.reserve(most);
    adopted_.reserve(most);
    for (Distribution* winner : winners) Adopt(std::move(*winner), place);
    place.outcome = Count(place.distributions, "distribution");
  }

  Scan Finish() && { return std::move(result_); }

 private:
  void Contend(Distribution& distribution,
               std::unordered_map<std::string_view, Distribution*>& best) {
    const auto [found, is_new] =
        best.try_emplace(distribution.normalized_name, &distribution);
    if (is_new) return;
    Distribution* loser = &distribution;
    if (IsBetter(distribution, *found->second)) {
      std::swap(loser, found->second);
    }
    result_.diagnostics.push_back(
        {Diagnostic::Severity::kWarning, loser->dist_info_path(), 0,
         "ignored: " + Quoted(found->second->dist_info) +
             " is the same distribution; uninstall one"});
  }

  void Adopt(Distribution distribution, SearchedPlace& place) {
    const auto [seen, is_new] = adopted_.try_emplace(
        distribution.normalized_name, result_.distributions.size());
    const auto is_built_in = [this](size_t index) {
      return result_.places[result_.distributions[index].place]
          .directory.built_in;
    };
    // A package cannot hide a distribution of Bulkhead's own by taking its
    // name.
    if (!is_new && place.directory.built_in && !is_built_in(seen->second)) {
      seen->second = result_.distributions.size();
    } else if (!is_new) {
      result_.diagnostics.push_back(
          {Diagnostic::Severity::kNote, distribution.dist_info_path(), 0,
           "shadowed by " +
               result_.distributions[seen->second].dist_info_path()});
      return;
    }
    distribution.place = result_.places.size() - 1;
    ++place.distributions;
    result_.distributions.push_back(std::move(distribution));
  }

  Scan result_;
  std::unordered_map<std::string, size_t> adopted_;  // By normalized name.
};

}  // namespace

Scan ScanPluginPath(const std::vector<SearchDirectory>& plugin_path,
                    const ScanOptions& options) {
  SeenDirectories seen;
  std::vector<PlaceReading> readings;
  for (const SearchDirectory& directory : plugin_path) {
    PlaceReading& reading = readings.emplace_back();
    struct stat info;
    const ipc::UniqueFd fd = OpenPlace(directory, seen, info, reading);
    if (!fd) continue;
    reading.listing = ListFolders(fd.get(), directory.path);
    reading.folders.reserve(reading.listing.folders.size());
    for (const ListedFolder& folder : reading.listing.folders) {
      reading.folders.push_back(
          ReadFolder(fd.get(), directory.path, folder, options.group));
    }
  }
  return AssembleScan(std::move(readings));
}

Scan AssembleScan(std::vector<PlaceReading> readings) {
  Assembler assembler;
  for (PlaceReading& reading : readings) assembler.Add(std::move(reading));
  return std::move(assembler).Finish();
}

}  // namespace bulkhead::discovery
