// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/plugin_file.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/text.h"

namespace bulkhead::discovery {

Result<PluginFile> OpenPluginFile(int directory, const std::string& module) {
  std::string folder = module;
  std::replace(folder.begin(), folder.end(), '.', '/');
  const size_t slash = folder.rfind('/');
  const std::string name =
      slash == std::string::npos ? folder : folder.substr(slash + 1);
  folder.resize(slash == std::string::npos ? 0 : slash + 1);

  const std::string with_prefix = folder + "lib" + name + ".so";
  const std::string without = folder + name + ".so";
  for (const std::string& path : {with_prefix, without}) {
    Result<ipc::UniqueFd> fd = OpenRegularFileBeneath(directory, path);
    if (fd) return PluginFile{path, *std::move(fd)};
    if (fd.error().code() != Code::kNotFound) return fd.error();
  }
  return Status(Code::kNotFound, "there is neither " + Quoted(with_prefix) +
                                     " nor " + Quoted(without) +
                                     " beside the dist-info");
}

}  // namespace bulkhead::discovery
