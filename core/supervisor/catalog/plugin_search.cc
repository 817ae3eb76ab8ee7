// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/plugin_search.h"

#include <algorithm>
#include <utility>

#include "core/discovery/entry_points.h"
#include "core/discovery/reserved_names.h"
#include "core/supervisor/backend/backend_launch.h"
#include "core/supervisor/files/first_read.h"
#include "core/supervisor/files/remote_places.h"

namespace bulkhead::catalog {
namespace {

std::string ParentOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

PluginSearch::PluginSearch(std::vector<discovery::SearchDirectory> directories,
                           discovery::Selection selection,
                           const backend::StartContext& context)
    : directories_(std::move(directories)),
      selection_(std::move(selection)),
      context_(context),
      cache_({.group = std::string(discovery::kBackendGroup)}) {}

bool PluginSearch::IsWanted(const discovery::SearchDirectory& directory) const {
  return directory.built_in || selection_.autoload ||
         std::ranges::any_of(loads_, [&](const auto& load) {
           return load.directory == directory.path;
         });
}

kj::Promise<void> PluginSearch::AskPlaces() {
  std::set<std::string> wanted;
  for (const discovery::SearchDirectory& directory : directories_) {
    if (IsWanted(directory) && !directory.built_in) {
      wanted.insert(directory.path);
    }
  }
  for (const discovery::ExplicitLoad& load : loads_) {
    wanted.insert(load.directory);
  }
  auto answers = kj::heapArrayBuilder<kj::Promise<void>>(wanted.size());
  for (const std::string& path : wanted) {
    // Reads in the child process the files that Search() will read.
    const auto read = [&] {
      discovery::ScanCache cache(
          {.group = std::string(discovery::kBackendGroup)});
      discovery::Discover(*cache.Rescan({{path, ""}}), selection_, loads_, {});
    };
    answers.add(context_.places.Ask(path, read).ignoreResult());
  }
  return kj::joinPromises(answers.finish());
}

kj::Promise<Result<PluginSearch::Loaded>> PluginSearch::Add(
    const std::string& path, const std::string& entry_point) {
  using Added = Result<Loaded>;
  const auto read = [&] {
    (void)discovery::ResolveExplicitLoad(path, entry_point);
  };
  return context_.places.Ask(path, read)
      .then([this, path, entry_point](bool answers) -> kj::Promise<Added> {
        if (!answers) return Added(files::NoAnswerFrom(path));
        const auto load = discovery::ResolveExplicitLoad(path, entry_point);
        if (!load) return Added(load.error());
        const bool is_new =
            std::find(loads_.begin(), loads_.end(), *load) == loads_.end();
        if (is_new) loads_.push_back(*load);
        return AskPlaces().then([this, load = *load, is_new]() -> Added {
          if (!context_.places.Answered(load.directory)) {
            return files::NoAnswerFrom(load.directory);
          }
          return Loaded{.load = load, .is_new = is_new};
        });
      });
}

discovery::Discovery PluginSearch::Search(Reach reach) {
  looked_everywhere_ |= reach == Reach::kEverywhere;
  std::vector<discovery::SearchDirectory> searched;
  std::vector<discovery::SearchedPlace> unsearched;
  silent_.clear();
  for (const discovery::SearchDirectory& directory : directories_) {
    const bool wanted = IsWanted(directory) &&
                        (directory.built_in || reach == Reach::kEverywhere);
    const bool answers =
        directory.built_in || context_.places.Answered(directory.path);
    if (wanted && answers) {
      searched.push_back(directory);
      continue;
    }
    if (!answers) silent_.insert(directory.path);
    if (wanted) {
      unsearched.push_back(
          {.directory = directory,
           .outcome = "does not answer; another program or machine serves its "
                      "file system"});
    } else {
      unsearched.push_back({.directory = directory,
                            .outcome = selection_.autoload
                                           ? "not searched yet"
                                           : "not searched, since autoload is "
                                             "off (" +
                                                 selection_.autoload_rule +
                                                 "=0)"});
    }
  }
  std::vector<discovery::ExplicitLoad> loads;
  for (const discovery::ExplicitLoad& load : loads_) {
    if (context_.places.Answered(load.directory)) {
      loads.push_back(load);
    } else {
      silent_.insert(load.directory);
    }
  }
  discovery::Discovery found =
      discovery::Discover(*cache_.Rescan(searched), selection_, loads,
                          context_.grants.Latest().grants);
  found.places.insert(found.places.end(), unsearched.begin(), unsearched.end());
  return found;
}

bool PluginSearch::IsOwn(const DeviceName& device) const {
  const auto& grants = context_.grants.Latest().grants;
  // With such a grant, a vendor's backend may have a reserved name.
  const bool taken =
      std::any_of(grants.begin(), grants.end(),
                  [](const auto& grant) { return grant.reserved_name; });
  return !taken && (device.backend.empty()
                        ? device.name == discovery::kReservedDevice
                        : discovery::IsReservedBackend(device.backend));
}

std::set<std::string> PluginSearch::Directories(
    const std::vector<discovery::BackendCandidate>& candidates) const {
  std::set<std::string> directories;
  for (const discovery::SearchDirectory& directory : directories_) {
    directories.insert(directory.path);
  }
  for (const discovery::BackendCandidate& candidate : candidates) {
    directories.insert(candidate.directory);
    directories.insert(candidate.dist_info);
    directories.insert(ParentOf(backend::ObjectPath(candidate)));
  }
  // Watching a directory looks its path up, which would hang there.
  std::erase_if(directories, [this](const std::string& directory) {
    return std::ranges::any_of(silent_, [&](const std::string& silent) {
      return directory == silent || directory.starts_with(silent + "/");
    });
  });
  return directories;
}

}  // namespace bulkhead::catalog
