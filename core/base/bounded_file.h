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
// such a thing nor leave the directory; each ends with the contents or an
// error.
//
// `directory` is borrowed. `path` is relative to it. Links are followed as long
// as they stay below the directory; on kernels without openat2 no link is.
// Errors: kNotFound if nothing has that name, kUnsupported if it is not of the
// wanted kind, kResourceExhausted if it is too big, kInvalidArgument for a path
// that leads out and for a link that leads nowhere, kBackendUnavailable for any
// other error of the kernel. Messages begin with the path in quotes.
// Thread-safe.

// The default limit. Large for metadata: the biggest METADATA known is a fifth
// of it.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 20;

// Opens a regular file for reading, close-on-exec.
Result<ipc::UniqueFd> OpenRegularFileBeneath(int directory,
                                             const std::string& path);
// Returns OK if there is a directory of that name.
Status FindDirectoryBeneath(int directory, const std::string& path);

// Returns whether the beginning of a file is all that the caller needs of it.
using SawEnough = bool (*)(std::string_view beginning_untrusted);

struct ReadOptions {
  size_t max_bytes = kMaxMetadataBytes;
  SawEnough saw_enough = nullptr;
  // Set if the folders in `path` are known to be no links, which is quicker. If
  // a folder becomes a link meanwhile, its target may be looked at but is not
  // opened.
  bool plain_folders = false;
};

// Returns the contents of a file, or a beginning for which `saw_enough` returns
// true. A file larger than `max_bytes` fails, however little of it is needed.
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    const ReadOptions& options);
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    size_t max_bytes = kMaxMetadataBytes);

}  // namespace bulkhead
