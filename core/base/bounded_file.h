// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead {

// Opens and reads files below a directory that a stranger may have filled. On
// the plugin path a file may in fact be a FIFO, a link that loops or leads out
// of the directory, a device, or a gigabyte long. These calls neither block on
// such a file nor leave the directory; each returns the file or an error.
//
// `directory` is borrowed. `path` is relative to it. Links are followed as long
// as they stay below the directory; on kernels without openat2, no link is
// followed. Messages begin with the path in quotes. Thread-safe. Errors:
// - kNotFound: there is no such file
// - kUnsupported: the file is of another kind (a FIFO, a directory)
// - kResourceExhausted: the file is too big
// - kInvalidArgument: the path leads out of the directory, or a link leads
//   nowhere
// - kBackendUnavailable: any other error of the kernel

// The default for ReadOptions::max_bytes. The largest known METADATA has a
// fifth of this size.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 20;

// Opens a regular file for reading, close-on-exec.
Result<ipc::UniqueFd> OpenRegularFileBeneath(int directory,
                                             const std::string& path);
// Returns OK if there is a directory of that name.
Status FindDirectoryBeneath(int directory, const std::string& path);

// A function that returns true if the beginning of a file is all that the
// caller needs.
using SawEnough = bool (*)(std::string_view beginning_untrusted);

struct ReadOptions {
  size_t max_bytes = kMaxMetadataBytes;
  SawEnough saw_enough = nullptr;
  // True if the caller knows that no folder in `path` is a link; opening is
  // then quicker. If a folder nevertheless becomes a link meanwhile, the
  // attributes of the target may be read, but the target is not opened.
  bool plain_folders = false;
};

// Returns the contents of a file. If `saw_enough` is set, returns only the
// beginning of the file for which it returns true. A file larger than
// `max_bytes` is an error even then.
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    const ReadOptions& options);
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    size_t max_bytes = kMaxMetadataBytes);

}  // namespace bulkhead
