// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/file_settling.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

namespace bulkhead::files {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

nanoseconds SinceEpoch(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

bool IsSame(const struct stat& a, const struct stat& b) {
  const auto key = [](const struct stat& s) {
    return std::make_tuple(s.st_dev, s.st_ino, s.st_size, SinceEpoch(s.st_mtim),
                           SinceEpoch(s.st_ctim));
  };
  return key(a) == key(b);
}

bool IsOld(const struct stat& state) {
  const nanoseconds changed =
      std::max(SinceEpoch(state.st_mtim), SinceEpoch(state.st_ctim));
  return std::chrono::system_clock::now().time_since_epoch() - changed >
         kSettlingTime;
}

// Asks for a read lease, which the kernel refuses with EAGAIN if somebody has
// the file open for writing.
bool IsOpenForWriting(int object) {
  if (::fcntl(object, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  ::fcntl(object, F_SETLEASE, F_UNLCK);
  return false;
}

// Does the same as AwaitSettled(), but waits at least once for kSettlingTime.
// `before` is the present state of the file.
kj::Promise<Status> Watch(kj::Timer& timer, int object, struct stat before,
                          milliseconds patience) {
  return timer.afterDelay(kSettlingTime.count() * kj::MILLISECONDS)
      .then([&timer, object, before, patience]() -> kj::Promise<Status> {
        struct stat now = {};
        if (::fstat(object, &now) == 0 && IsSame(before, now) &&
            !IsOpenForWriting(object)) {
          return Status();
        }
        if (patience <= kSettlingTime) {
          return Status(Code::kBackendUnavailable,
                        "its object is still being written; try again when "
                        "it is complete");
        }
        return Watch(timer, object, now, patience - kSettlingTime);
      });
}

}  // namespace

kj::Promise<Status> AwaitSettled(kj::Timer& timer, int object,
                                 milliseconds patience) {
  struct stat state = {};
  if (::fstat(object, &state) == 0 && IsOld(state) &&
      !IsOpenForWriting(object)) {
    return Status();
  }
  return Watch(timer, object, state, patience);
}

}  // namespace bulkhead::files
