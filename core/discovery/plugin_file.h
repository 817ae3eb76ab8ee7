// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// The shared object of an entry point. bulkheadd never loads it: the descriptor
// goes to a sandbox, which loads exactly the file that was opened.
struct PluginFile {
  std::string path;  // Relative to the directory.
  ipc::UniqueFd fd;  // A regular file, read-only, close-on-exec.
};

// Opens the object of `module`. `directory` is the open directory that holds
// the dist-info. The object of "a.b.name" is a/b/libname.so or, if that does
// not exist, a/b/name.so. Fails with kNotFound if neither exists; the message
// names both. Fails otherwise as OpenRegularFileBeneath does.
Result<PluginFile> OpenPluginFile(int directory, const std::string& module);

// Returns the paths, relative to the directory, that the sandbox of the backend
// may show; sorted. These are the files in RECORD. Without a RECORD, the only
// path is the first component of the module: a folder with everything below it,
// or the object itself. The paths need not exist. Fails with kNotFound if there
// is a RECORD that does not list the object, since the sandbox would not show
// the object then.
Result<std::vector<std::string>> VisiblePaths(
    const std::optional<std::vector<RecordedFile>>& record,
    const std::string& plugin_path);

}  // namespace bulkhead::discovery
