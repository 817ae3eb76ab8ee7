// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/file_reach.h"

#include <algorithm>

namespace bulkhead::supervisor {

std::string ObstacleToFiles(const discovery::BackendCandidate& candidate,
                            sandbox::Reach reach) {
  if (!reach.own_uid || reach.own_root) return "";
  const auto is_needed = [&](const std::string& path) {
    return path != candidate.plugin_path &&
           !(candidate.directory + "/" + path)
                .starts_with(candidate.dist_info + "/");
  };
  const auto files = std::count_if(candidate.visible_paths.begin(),
                                   candidate.visible_paths.end(), is_needed);
  if (files == 0) return "";
  const std::string closed = sandbox::ClosedDirectoryAbove(
      candidate.directory + "/" + candidate.plugin_path);
  if (closed.empty()) return "";
  return "the backend " + candidate.name() + " cannot open the " +
         std::to_string(files) + (files == 1 ? " file" : " files") +
         " beside its shared object: it has a uid of its own, which may not "
         "enter " +
         closed + "; chmod o+x " + closed + ", or install it elsewhere";
}

}  // namespace bulkhead::supervisor
