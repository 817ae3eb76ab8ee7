// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/first_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/discovery/package_files.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {
namespace {

// Bounds the bytes that are read, so that a huge distribution does not count as
// one that does not answer. Sound backends have fewer.
constexpr uint64_t kMostBytes = uint64_t{256} << 20;

// Reads the files of the distribution. Runs in a child process, which may hang.
void ReadFiles(const discovery::BackendCandidate& candidate) {
  const auto opened = discovery::OpenBackend(candidate);
  struct stat object = {};
  if (!opened || ::fstat(opened->plugin.get(), &object) != 0) return;
  discovery::PackageFiles files(opened->directory.get(),
                                discovery::DistributionOf(candidate),
                                candidate.plugin_path, object);
  while (!files.Step()) {
  }
  const auto own = files.Take();
  if (!own) return;
  uint64_t bytes = 0;
  std::array<char, 65'536> piece;
  for (const discovery::PackageFile& file : *own) {
    const ipc::UniqueFd fd(
        ::openat(opened->directory.get(), file.path.c_str(),
                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    ssize_t got = fd ? 1 : 0;
    while (got > 0 && bytes < kMostBytes) {
      got = ::read(fd.get(), piece.data(), piece.size());
      if (got > 0) bytes += static_cast<uint64_t>(got);
    }
  }
}

}  // namespace

kj::Promise<Status> ReadFirst(RemotePlaces& places,
                              const discovery::BackendCandidate& candidate) {
  const std::string object = candidate.directory + "/" + candidate.plugin_path;
  return places.Ask(object, [&] { ReadFiles(candidate); })
      .then([directory = candidate.directory](bool answers) {
        return answers ? Status() : NoAnswerFrom(directory);
      });
}

Status NoAnswerFrom(const std::string& path) {
  return Status(Code::kBackendUnavailable,
                path +
                    " does not answer; another program or machine serves its "
                    "file system");
}

}  // namespace bulkhead::files
