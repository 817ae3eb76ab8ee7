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
#include "core/supervisor/backend/start_context.h"

namespace bulkhead::catalog {

// Searches the plugin path, and the directories of the distributions that were
// loaded explicitly, for installed backends. Knows which directories are
// wanted, were read, or did not answer. Knows nothing of backends that run.
//
// A directory on a file system that another program or machine serves is
// searched only if it has answered (files/remote_places.h). So callers await
// AskPlaces() before Search(kEverywhere). Files that did not change since the
// last search are not read again (scan_cache.h).
//
// Bound to the event loop's thread, which a search blocks.
class PluginSearch {
 public:
  // All wanted directories, or only the ones with Bulkhead's own backends.
  enum class Reach { kEverywhere, kOwn };
  struct Loaded {
    discovery::ExplicitLoad load;
    bool is_new;  // false if it was added before
  };

  // `context` must outlive this object.
  PluginSearch(std::vector<discovery::SearchDirectory> directories,
               discovery::Selection selection,
               const backend::StartContext& context);

  // Asks each directory that Search(kEverywhere) reads whether it answers.
  // Resolves once this is known of all.
  kj::Promise<void> AskPlaces();
  // Adds the distribution at `path` to the next searches. Fails if there is
  // none, or if its directory does not answer.
  kj::Promise<Result<Loaded>> Add(const std::string& path,
                                  const std::string& entry_point);
  void Remove(const discovery::ExplicitLoad& load) { std::erase(loads_, load); }

  // Searches the directories of `reach` that answered at the last AskPlaces().
  discovery::Discovery Search(Reach reach);
  // Returns whether the last search left files unread, since a directory is
  // very full. The next search continues with these.
  bool unread() const { return cache_.unread() > 0; }
  bool looked_everywhere() const { return looked_everywhere_; }
  bool autoload() const { return selection_.autoload; }
  // Returns whether the last search left the directory out, since it was not
  // asked or did not answer.
  bool IsSilent(const std::string& directory) const {
    return silent_.contains(directory);
  }
  // Returns whether only Bulkhead's own backends can have the device.
  bool IsOwn(const DeviceName& device) const;
  // Returns the directories to watch for changes: the plugin path and the
  // folders of the candidates, except for those that did not answer.
  std::set<std::string> Directories(
      const std::vector<discovery::BackendCandidate>& candidates) const;

 private:
  // Returns whether a search may use packages of the directory.
  bool IsWanted(const discovery::SearchDirectory& directory) const;

  const std::vector<discovery::SearchDirectory> directories_;
  const discovery::Selection selection_;
  const backend::StartContext& context_;
  discovery::ScanCache cache_;
  // Remote directories that the last search left out; see IsSilent().
  std::set<std::string> silent_;
  bool looked_everywhere_ = false;
  std::vector<discovery::ExplicitLoad> loads_;
};

}  // namespace bulkhead::catalog
