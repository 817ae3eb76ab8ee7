// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/installed_programs.h"

#include <fcntl.h>

#include <utility>

namespace bulkhead::supervisor_link {
namespace {

ipc::UniqueFd Open(const std::string& path) {
  return ipc::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

InstalledPrograms::InstalledPrograms(std::string directory)
    : directory_(std::move(directory)),
      supervisor_(Open(supervisor_path())),
      reaper_(Open(reaper_path())),
      worker_(Open(worker_path())) {}

}  // namespace bulkhead::supervisor_link
