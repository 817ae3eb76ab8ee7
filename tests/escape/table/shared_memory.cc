// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr int kDescriptors = 64;

// In a session no descriptor of shared memory is left: it was closed when the
// memory was mapped. In the zygote there is the lock-down.
std::string Found(const Targets& t, int refused) {
  return Check((refused > 0) == t.in_zygote,
               std::to_string(refused) + " descriptors of shared memory");
}

// Tries to map for writing the shared memory that only the host may write.
std::string MapForWriting(const Targets& t) {
  int refused = 0;
  for (int fd = 3; fd < kDescriptors; ++fd) {
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0) continue;
    if ((seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0) continue;
    if (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) !=
        MAP_FAILED) {
      return "allowed";
    }
    ++refused;
  }
  return Found(t, refused);
}

std::string Seal(const Targets& t) {
  int refused = 0;
  for (int fd = 3; fd < kDescriptors; ++fd) {
    if (fcntl(fd, F_GET_SEALS) <= 0) continue;
    const std::string answer = Answer(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
    if (answer != "EPERM") return answer;
    ++refused;
  }
  return Found(t, refused);
}

}  // namespace

std::vector<Attempt> SharedMemoryAttempts() {
  return {
      {59, "map_requests_for_writing", Everywhere("ok"), MapForWriting},
      {59, "seal", Everywhere("ok"), Seal},
      {59, "truncate_shared", kKilled,
       [](const Targets&) { return Answer(ftruncate(4, 0)); }},
      {59, "punch_hole", kKilled,
       [](const Targets&) {
         return Answer(
             fallocate(4, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096));
       }},
      {69, "allow_speculation", Everywhere("E:EPERM"),
       [](const Targets&) {
         return Answer(prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS,
                             PR_SPEC_ENABLE, 0, 0));
       }},
  };
}

}  // namespace bulkhead::tests
