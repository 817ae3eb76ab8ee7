// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/open_file_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <vector>

#include "core/base/application_limits.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {
namespace {

// The number of further streams that still fit when warnings begin.
constexpr size_t kStreamsLeftAtWarning = 3;

std::string Have(const OpenFiles& files) {
  return "bulkheadd has " + std::to_string(files.open) + " of the " +
         std::to_string(files.limit) + " open files that it may have";
}

constexpr char kAdvice[] =
    "raise the hard limit on open files (ulimit -Hn, RLIMIT_NOFILE) and start "
    "the application again, or close some streams";

}  // namespace

bool CanOpen(size_t files) {
  std::vector<ipc::UniqueFd> spare;
  for (size_t i = 0; i < files; ++i) {
    spare.emplace_back(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!spare.back()) return false;
  }
  return true;
}

Status TooFewFiles(const std::string& purpose) {
  return Status(Code::kResourceExhausted, Have(CountOpenFiles()) +
                                              ", and has too few left to " +
                                              purpose + "; " + kAdvice);
}

Status TooFewFilesForAStream() {
  return TooFewFiles("open another stream, which takes " +
                     std::to_string(kFilesOfAStream) + " and for a while " +
                     std::to_string(kFilesOfAnOpening));
}

std::string NearOwnOpenFiles(int newest) {
  const auto files = NearOpenFiles(
      newest, kFilesOfAnOpening + kStreamsLeftAtWarning * kFilesOfAStream);
  if (!files) return "";
  return Have(*files) + ", and each stream takes " +
         std::to_string(kFilesOfAStream) + ": " + kAdvice;
}

}  // namespace bulkhead::supervisor
