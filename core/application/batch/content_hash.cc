// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/content_hash.h"

#include <fcntl.h>
#include <sha2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::batch {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr int64_t kNanoseconds = 1'000'000'000;

std::string Finish(SHA2_CTX& context) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  return SHA256End(&context, hex);
}

}  // namespace

FileStamp StampOf(const std::string& path) {
  struct stat file;
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return {};
  return {
      .bytes = static_cast<uint64_t>(file.st_size),
      .modified_ns = file.st_mtim.tv_sec * kNanoseconds + file.st_mtim.tv_nsec};
}

std::string Sha256Of(std::string_view text) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(text.data()),
               text.size());
  return Finish(context);
}

Result<std::string> Sha256OfFile(const std::string& path,
                                 const std::function<bool()>& stopped) {
  // O_NONBLOCK, because the file may have been replaced by a FIFO.
  const ipc::UniqueFd file(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  SHA2_CTX context;
  SHA256Init(&context);
  std::vector<uint8_t> piece(kPieceBytes);
  for (;;) {
    if (stopped()) return Status(Code::kCancelled, path + ": cancelled");
    const ssize_t bytes =
        file ? read(file.get(), piece.data(), piece.size()) : -1;
    if (bytes < 0 && file && errno == EINTR) continue;
    if (bytes < 0) {
      return Status(Code::kNotFound,
                    "cannot read " + path + ": " +
                        std::generic_category().message(errno));
    }
    if (bytes == 0) return Finish(context);
    SHA256Update(&context, piece.data(), static_cast<size_t>(bytes));
  }
}

}  // namespace bulkhead::batch
