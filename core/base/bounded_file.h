// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// Anybody may have put anything on the plugin path: a FIFO in place of a file,
// a link that loops or leads out of the directory, a device, a file of a
// gigabyte. These calls neither block on such a thing nor leave the directory;
// each ends with the contents or a reason.
//
// `directory` is borrowed. `path` is relative to it; links are followed as
// long as they stay beneath it (on kernels without openat2 none is). Failures:
// kNotFound if there is nothing of that name, kUnsupported if it is not what is
// wanted, kResourceExhausted if it is too big, kInvalidArgument for a path that
// leads out and a link that leads nowhere, and kBackendUnavailable for anything
// else the kernel says. Messages begin with the path, quoted. Thread-safe.

// Large for metadata: the biggest METADATA known is a fifth of it.
inline constexpr size_t kMaxMetadataBytes = size_t{1} << 20;

// Open for reading, close-on-exec.
Result<ipc::UniqueFd> OpenRegularFileBeneath(int directory,
                                             const std::string& path);
// Fails unless there is a directory of that name.
Status FindDirectoryBeneath(int directory, const std::string& path);

// Whether the beginning of a file is all of it that the caller wants.
using SawEnough = bool (*)(std::string_view beginning_untrusted);

struct ReadOptions {
  size_t max_bytes = kMaxMetadataBytes;
  SawEnough saw_enough = nullptr;
  // The folders on the way are known to be no links. Quicker; if one becomes a
  // link meanwhile, what it leads to may be looked at, and is not opened.
  bool plain_folders = false;
};

// The contents, or at least as much as makes `saw_enough` true. A file larger
// than `max_bytes` fails however little of it is wanted.
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    const ReadOptions& options);
Result<std::string> ReadFileBeneath(int directory, const std::string& path,
                                    size_t max_bytes = kMaxMetadataBytes);

}  // namespace bulkhead::discovery
