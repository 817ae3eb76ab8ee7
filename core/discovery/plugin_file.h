// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// The shared object behind an entry point. Never loaded here: the descriptor
// goes to a sandbox, and what is loaded is what was opened.
struct PluginFile {
  std::string path;  // Below the directory.
  ipc::UniqueFd fd;  // Reading only, close-on-exec, a regular file.
};

// Finds the object of `module` below the open directory that holds the
// dist-info: "a.b.name" is a/b/libname.so or, failing that, a/b/name.so.
// Fails with kNotFound, naming both, if there is neither, and otherwise as
// OpenRegularFileBeneath does.
Result<PluginFile> OpenPluginFile(int directory, const std::string& module);

// The paths below the directory that its sandbox may show, sorted: the files
// that RECORD lists or, without a RECORD, the first component of the module, a
// folder with all below it or the object itself. What is listed need not exist.
// Fails with kNotFound if there is a RECORD and the object is not in it, since
// it could not be loaded then.
Result<std::vector<std::string>> VisiblePaths(
    const std::optional<std::vector<RecordedFile>>& record,
    const std::string& plugin_path);

}  // namespace bulkhead::discovery
