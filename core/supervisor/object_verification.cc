// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/object_verification.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/discovery/record_hash.h"

namespace bulkhead::supervisor {
namespace {

// Some milliseconds of hashing.
constexpr size_t kPieceBytes = size_t{1} << 20;

struct Verification {
  kj::Timer& timer;
  int object;
  discovery::RecordHash hash;
  off_t at = 0;
  std::vector<char> piece = std::vector<char>(kPieceBytes);
};

kj::Promise<Status> Continue(std::shared_ptr<Verification> verification) {
  const ssize_t got = ::pread(verification->object, verification->piece.data(),
                              kPieceBytes, verification->at);
  if (got < 0 && errno != EINTR) {
    return Status(
        Code::kBackendUnavailable,
        "its object cannot be read: " + std::generic_category().message(errno));
  }
  if (got == 0) {
    return verification->hash.Matches()
               ? Status()
               : Status(Code::kBackendUnavailable,
                        "its object is not the one that was installed: the "
                        "hash in RECORD differs; install the distribution "
                        "again");
  }
  if (got > 0) {
    verification->hash.Add(
        std::span(verification->piece).first(static_cast<size_t>(got)));
    verification->at += got;
  }
  // A timer, since only then kj polls before it goes on.
  return verification->timer.afterDelay(0 * kj::SECONDS).then([verification] {
    return Continue(verification);
  });
}

}  // namespace

kj::Promise<Status> VerifyObject(kj::Timer& timer, int object,
                                 const std::string& recorded) {
  if (recorded.empty()) return Status();
  auto hash = discovery::RecordHash::Parse(recorded);
  if (!hash) return std::move(hash).error();
  return Continue(std::make_shared<Verification>(Verification{
      .timer = timer, .object = object, .hash = *std::move(hash)}));
}

}  // namespace bulkhead::supervisor
