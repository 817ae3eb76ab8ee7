// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/file_reach.h"

#include <cstddef>

namespace bulkhead::files {

std::string ObstacleToFiles(const discovery::BackendCandidate& candidate,
                            sandbox::Reach reach) {
  if (!reach.own_uid || reach.own_root) return "";
  const size_t files = candidate.files_beside;
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

}  // namespace bulkhead::files
