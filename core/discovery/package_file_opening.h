// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// Functions that open a package's file, and check the attributes of the file
// and of the folders above it. package_files.h lists the rules, and adds the
// checks that need RECORD (the package's list of its files) and the other
// distributions. The files are hostile. bulkheadd opens them in this way at
// discovery, at a backend's start, and again before each launch.

// Opens the file `path` below `directory_fd` with O_PATH, and checks it against
// `object`, the attributes of the backend's shared object. Fails with kNotFound
// if there is no such file, and with kInvalidArgument if a rule refuses the
// file; the message begins with the path in quotes.
Result<ipc::UniqueFd> OpenPackageFile(int directory_fd, const std::string& path,
                                      const struct stat& object);

// Returns a reason to doubt that the opened `file` is a part of the package, as
// a predicate ("has further names (hard links)"), or an empty string. The
// sandbox shows a doubtful file only if RECORD has the hash of its content.
// `object` has the attributes of the backend's shared object.
std::string DoubtOf(const ipc::UniqueFd& file, const struct stat& object);

// Returns the failure for a file that is refused: kInvalidArgument with `path`
// in quotes and the predicate `why`.
Status RefusedFile(const std::string& path, const std::string& why);

// Returns the error for the current errno, after `part` could not be opened,
// which is `path` or a folder above it. The code is kNotFound if there is no
// such file.
Status FailedToOpen(const std::string& path, const std::string& part);

}  // namespace bulkhead::discovery
