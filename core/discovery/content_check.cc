// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/content_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/record_hash.h"
#include "core/discovery/package_file_opening.h"

namespace bulkhead::discovery {
namespace {

// A piece of this size takes some milliseconds to hash.
constexpr size_t kPieceBytes = size_t{1} << 20;

}  // namespace

std::optional<Result<FileIdentity>> ContentCheck::Compare(
    const ipc::UniqueFd& file, const std::string& recorded,
    const std::string& path, const std::string& doubt) {
  const Status refused =
      RefusedFile(path, doubt +
                            ", and RECORD does not have its hash: install the "
                            "distribution again");
  const size_t equals = recorded.find('=');
  const auto algorithm = HashAlgorithmNamed(recorded.substr(0, equals));
  if (!algorithm || !RecordHash::Parse(recorded)) return refused;
  // `file` is an O_PATH descriptor, which cannot be read, so it is opened anew.
  ipc::UniqueFd reading(
      open(("/proc/self/fd/" + std::to_string(file.get())).c_str(),
           O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!reading || fstat(reading.get(), &info) != 0) {
    return FailedToOpen(path, path);
  }
  const FileIdentity identity = IdentityOf(info);
  if (const auto known =
          digests_.find({identity.device, identity.inode, *algorithm});
      known != digests_.end()) {
    std::string_view digest = std::string_view(recorded).substr(equals + 1);
    // RECORD is written without padding, but padding is accepted.
    while (digest.ends_with('=')) digest.remove_suffix(1);
    if (digest == known->second.digest && identity == known->second.identity) {
      return identity;
    }
    return refused;
  }
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes > kMaxHashedBytes || hashed_bytes_ > kMaxHashedBytes - bytes) {
    return RefusedFile(path,
                       doubt +
                           ", and is too large to be compared with RECORD's "
                           "hash: such files of a package may have " +
                           std::to_string(kMaxHashedBytes) + " bytes together");
  }
  hashing_.emplace(Hashing{.file = std::move(reading),
                           .identity = identity,
                           .algorithm = *algorithm,
                           .digest = Digest(*algorithm)});
  return std::nullopt;
}

void ContentCheck::HashPiece() {
  std::vector<char> piece(kPieceBytes);
  const ssize_t got = read(hashing_->file.get(), piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0) {
    hashing_->digest.Append({piece.data(), static_cast<size_t>(got)});
    hashed_bytes_ += static_cast<uint64_t>(got);
  }
  // A file that grows beyond the bound is not read to its end: it has changed.
  if (got > 0 && hashed_bytes_ <= kMaxHashedBytes) return;
  struct stat info = {};
  const bool same = got == 0 && fstat(hashing_->file.get(), &info) == 0 &&
                    IdentityOf(info) == hashing_->identity;
  const FileIdentity& file = hashing_->identity;
  digests_[{file.device, file.inode, hashing_->algorithm}] = {
      file, same ? hashing_->digest.Finish() : ""};
  hashing_.reset();
}

}  // namespace bulkhead::discovery
