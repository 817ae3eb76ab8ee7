// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/object_verification.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "core/base/digest.h"
#include "core/base/record_hash.h"

namespace bulkhead::files {
namespace {

// The size of a piece, which takes some milliseconds to hash.
constexpr size_t kPieceBytes = size_t{1} << 20;
// The largest object that is read, since a start waits for it.
constexpr off_t kMostBytes = off_t{8} << 30;

// The state of reading a file piece by piece.
struct Reading {
  kj::Timer& timer;
  int object;
  std::function<void(std::span<const char>)> take;
  off_t at = 0;
  std::unique_ptr<char[]> piece =
      std::make_unique_for_overwrite<char[]>(kPieceBytes);
};

kj::Promise<Status> Continue(std::shared_ptr<Reading> reading) {
  const ssize_t got =
      ::pread(reading->object, reading->piece.get(), kPieceBytes, reading->at);
  if (got < 0 && errno != EINTR) {
    return Status(
        Code::kBackendUnavailable,
        "its object cannot be read: " + std::generic_category().message(errno));
  }
  if (got == 0) return Status();
  if (got > 0) {
    reading->take({reading->piece.get(), static_cast<size_t>(got)});
    reading->at += got;
  }
  // A timer instead of evalLater(): kj polls descriptors only when no promise
  // is ready, so other work would wait until the whole file is read.
  return reading->timer.afterDelay(0 * kj::SECONDS).then([reading] {
    return Continue(reading);
  });
}

// Passes the contents of `object` to `hash`, one piece after the other.
template <typename Hash>
kj::Promise<Status> ReadInto(kj::Timer& timer, int object, Hash hash) {
  struct stat file = {};
  if (fstat(object, &file) == 0 && file.st_size > kMostBytes) {
    return Status(Code::kBackendUnavailable,
                  "its object has more than the 8 GiB that an object may have");
  }
  return Continue(std::make_shared<Reading>(
      Reading{.timer = timer, .object = object, .take = std::move(hash)}));
}

off_t MostCopiedBytes() {
  rlimit writable = {};
  if (::getrlimit(RLIMIT_FSIZE, &writable) != 0) return kMostCopiedBytes;
  return static_cast<off_t>(std::min<rlim_t>(
      writable.rlim_cur, static_cast<rlim_t>(kMostCopiedBytes)));
}

// The copy of an object, while it is made.
struct Copying {
  ipc::UniqueFd memory;
  const off_t most_bytes = MostCopiedBytes();
  off_t bytes = 0;
  int error = 0;

  void Append(std::span<const char> piece) {
    // A file may grow while it is read.
    bytes += static_cast<off_t>(piece.size());
    while (!piece.empty() && bytes <= most_bytes && error == 0) {
      const ssize_t written = ::write(memory.get(), piece.data(), piece.size());
      if (written > 0) {
        piece = piece.subspan(static_cast<size_t>(written));
      } else if (written == 0 || errno != EINTR) {
        error = written == 0 ? ENOSPC : errno;
      }
    }
  }
};

Result<ipc::UniqueFd> Seal(Copying& copying) {
  // An object that is too large to be copied is no error (CopyObject()).
  if (copying.bytes > copying.most_bytes) return ipc::UniqueFd();
  if (copying.error == 0 &&
      ::fcntl(copying.memory.get(), F_ADD_SEALS,
              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    copying.error = errno;
  }
  if (copying.error != 0) {
    return Status(Code::kResourceExhausted,
                  "its object cannot be copied: " +
                      std::generic_category().message(copying.error));
  }
  return std::move(copying.memory);
}

}  // namespace

kj::Promise<Result<ipc::UniqueFd>> CopyObject(kj::Timer& timer, int object) {
  auto copying = std::make_shared<Copying>();
  struct stat file = {};
  if (::fstat(object, &file) == 0 && file.st_size > copying->most_bytes) {
    return Result<ipc::UniqueFd>(ipc::UniqueFd());
  }
  copying->memory = ipc::UniqueFd(
      ::memfd_create("bulkhead-object", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copying->memory) copying->error = errno;
  return ReadInto(timer, object,
                  [copying](auto piece) { copying->Append(piece); })
      .then([copying](Status read) -> Result<ipc::UniqueFd> {
        if (!read.ok()) return read;
        return Seal(*copying);
      });
}

kj::Promise<Status> VerifyObject(kj::Timer& timer, int object,
                                 const std::string& recorded) {
  if (recorded.empty()) return Status();
  auto parsed = RecordHash::Parse(recorded);
  if (!parsed) return std::move(parsed).error();
  auto hash = std::make_shared<RecordHash>(*std::move(parsed));
  return ReadInto(timer, object, [hash](auto piece) { hash->Add(piece); })
      .then([hash](Status read) -> Status {
        if (!read.ok() || hash->Matches()) return read;
        return Status(Code::kBackendUnavailable,
                      "its object is not the one that was installed: the hash "
                      "in RECORD differs; install the distribution again");
      });
}

kj::Promise<Result<std::string>> HashObject(kj::Timer& timer, int object) {
  auto digest = std::make_shared<Digest>(HashAlgorithm::kSha256);
  return ReadInto(timer, object,
                  [digest](auto piece) { digest->Append(piece); })
      .then([digest](Status read) -> Result<std::string> {
        if (!read.ok()) return read;
        return "sha256=" + digest->Finish();
      });
}

}  // namespace bulkhead::files
