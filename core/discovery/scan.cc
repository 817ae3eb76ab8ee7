// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/discovery/text.h"
#include "core/discovery/version.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {
namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

// The names in the directory that could be a distribution's, in byte order.
std::vector<std::string> DistInfoNames(DIR* stream) {
  std::vector<std::string> names;
  while (const dirent* entry = readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(kDistInfoSuffix)) names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool IsBetter(const Distribution& a, const Distribution& b) {
  if (a.has_metadata != b.has_metadata) return a.has_metadata;
  return CompareVersions(a.version, b.version) > 0;
}

std::string Count(int count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

class Scanner {
 public:
  void Search(const SearchDirectory& directory) {
    SearchedPlace& place = result_.places.emplace_back();
    place.directory = directory;
    ipc::UniqueFd fd(open(directory.path.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    struct stat info;
    if (!fd || fstat(fd.get(), &info) != 0) return Unreadable(errno, place);
    if (const auto [seen, is_new] = directories_.try_emplace(
            {info.st_dev, info.st_ino}, directory.path);
        !is_new) {
      place.outcome = "the same directory as " + seen->second;
      return;
    }
    const DirectoryStream stream(fdopendir(fd.get()));
    if (!stream) return Unreadable(errno, place);
    const int directory_fd = fd.release();

    // By normalized name; a map keeps one directory's order independent of
    // how it was listed.
    std::map<std::string, Distribution> best;
    for (const std::string& name : DistInfoNames(stream.get())) {
      Consider(directory_fd, directory.path, name, best);
    }
    Adopt(std::move(best), place);
  }

  Scan Finish() && { return std::move(result_); }

 private:
  void Report(Diagnostic::Severity severity, std::string file,
              std::string message) {
    result_.diagnostics.push_back(
        {severity, std::move(file), 0, std::move(message)});
  }

  void Unreadable(int error, SearchedPlace& place) {
    if (error == ENOENT) {
      place.outcome = "does not exist";
      return;
    }
    place.outcome =
        "cannot be searched: " + std::generic_category().message(error);
    Report(Diagnostic::Severity::kWarning, place.directory.path, place.outcome);
  }

  void Consider(int directory_fd, const std::string& directory,
                const std::string& name,
                std::map<std::string, Distribution>& best) {
    const std::string path = directory + "/" + name;
    if (name.front() == '~') {
      return Report(Diagnostic::Severity::kWarning, path,
                    "ignored: a leftover of an interrupted pip; remove it");
    }
    Diagnostics diagnostics;
    Result<Distribution> read =
        ReadDistribution(directory_fd, directory, name, diagnostics);
    if (!read) {
      return Report(Diagnostic::Severity::kError, path,
                    "ignored: " + read.error().message());
    }
    result_.diagnostics.insert(result_.diagnostics.end(), diagnostics.begin(),
                               diagnostics.end());
    auto [found, is_new] =
        best.try_emplace(read->normalized_name, Distribution());
    if (!is_new) {
      Distribution& loser =
          IsBetter(*read, found->second) ? found->second : *read;
      const Distribution& winner = &loser == &*read ? found->second : *read;
      Report(Diagnostic::Severity::kWarning, loser.dist_info_path(),
             "ignored: " + Quoted(winner.dist_info) +
                 " is the same distribution; uninstall one");
      if (&loser == &*read) return;
    }
    found->second = *std::move(read);
  }

  void Adopt(std::map<std::string, Distribution> best, SearchedPlace& place) {
    std::vector<Distribution> adopted;
    for (auto& [normalized, distribution] : best) {
      const auto [seen, is_new] =
          names_.try_emplace(normalized, distribution.dist_info_path());
      if (!is_new) {
        Report(Diagnostic::Severity::kNote, distribution.dist_info_path(),
               "shadowed by " + seen->second);
        continue;
      }
      distribution.place = result_.places.size() - 1;
      adopted.push_back(std::move(distribution));
    }
    std::sort(adopted.begin(), adopted.end(),
              [](const Distribution& a, const Distribution& b) {
                return a.dist_info < b.dist_info;
              });
    place.searched = true;
    place.distributions = static_cast<int>(adopted.size());
    place.outcome = Count(place.distributions, "distribution");
    for (Distribution& distribution : adopted) {
      result_.distributions.push_back(std::move(distribution));
    }
  }

  Scan result_;
  std::map<std::pair<dev_t, ino_t>, std::string> directories_;
  std::map<std::string, std::string> names_;  // Normalized name to path.
};

}  // namespace

Scan ScanPluginPath(const std::vector<SearchDirectory>& plugin_path) {
  Scanner scanner;
  for (const SearchDirectory& directory : plugin_path) {
    scanner.Search(directory);
  }
  return std::move(scanner).Finish();
}

}  // namespace bulkhead::discovery
