// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>

#include <set>
#include <string>
#include <vector>

#include "core/base/device_name.h"
#include "core/discovery/discover.h"
#include "core/discovery/scan_cache.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend_launch.h"

namespace bulkhead::catalog {

// Searches the plugin path, and the directories of the distributions that were
// loaded explicitly. Owns what is known of the directories: which of them are
// wanted, which were read, and which did not answer. Knows no backend that
// runs.
//
// A directory on a file system that others serve is searched only if it has
// answered (files/remote_places.h): whoever wants a search of all of them
// awaits AskPlaces() first. Files that did not change since the last search are
// not read again (scan_cache.h).
//
// Bound to the event loop's thread, which a search blocks.
class PluginSearch {
 public:
  // All directories, or only the ones with Bulkhead's own backends.
  enum class Reach { kEverywhere, kOwn };
  struct Loaded {
    discovery::ExplicitLoad load;
    bool is_new;  // false if it was added before
  };

  // `context` must outlive this object.
  PluginSearch(std::vector<discovery::SearchDirectory> directories,
               discovery::Selection selection,
               const backend::StartContext& context);

  // Asks whether the directories that a search is about to read answer.
  // Resolves once each has, or will not.
  kj::Promise<void> AskPlaces();
  // Adds the distribution that the application names, and asks whether its
  // directory answers.
  kj::Promise<Result<Loaded>> Add(const std::string& path,
                                  const std::string& entry_point);
  void Remove(const discovery::ExplicitLoad& load) { std::erase(loads_, load); }

  discovery::Discovery Search(Reach reach);
  // Returns whether the last search left something out, since directories are
  // very full. The next one goes on with that.
  bool unread() const { return cache_.unread() > 0; }
  bool looked_everywhere() const { return looked_everywhere_; }
  bool autoload() const { return selection_.autoload; }
  // Returns whether the last search left the directory out because it was not
  // asked or did not answer.
  bool IsSilent(const std::string& directory) const {
    return silent_.contains(directory);
  }
  // Returns whether no package can have the device.
  bool IsOwn(const DeviceName& device) const;
  // Returns the directories to watch: the plugin path and the candidates'
  // folders.
  std::set<std::string> Directories(
      const std::vector<discovery::BackendCandidate>& candidates) const;

 private:
  // Returns whether packages of the directory are wanted.
  bool IsWanted(const discovery::SearchDirectory& directory) const;

  const std::vector<discovery::SearchDirectory> directories_;
  const discovery::Selection selection_;
  const backend::StartContext& context_;
  discovery::ScanCache cache_;
  // Remote directories that were not asked last time, or did not answer.
  std::set<std::string> silent_;
  bool looked_everywhere_ = false;
  std::vector<discovery::ExplicitLoad> loads_;
};

}  // namespace bulkhead::catalog
