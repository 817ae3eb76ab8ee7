// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// The opened shared object of an entry point. bulkheadd never loads it: the
// descriptor goes to a sandbox, which loads exactly the file that was opened.
struct PluginFile {
  std::string path;  // Relative to the directory.
  ipc::UniqueFd fd;  // A regular file, read-only, close-on-exec.
};

// Opens the object of `module`. `directory` is the open directory that holds
// the dist-info. The object of "a.b.name" is a/b/libname.so or, if that does
// not exist, a/b/name.so. Fails with kNotFound if neither exists; the message
// names both. For other failures, see OpenRegularFileBeneath.
Result<PluginFile> OpenPluginFile(int directory, const std::string& module);

}  // namespace bulkhead::discovery
