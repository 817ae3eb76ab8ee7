// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "ipc/unique_fd.h"

namespace bulkhead::cli::decode {
namespace {

constexpr char kStdin[] = "standard input";
constexpr size_t kPieceBytes = size_t{1} << 20;

Status Failed(const char* what) {
  return Status(Code::kInvalidArgument,
                fmt::format("cannot {} {}: {}", what, kStdin,
                            std::generic_category().message(errno)));
}

// Copies stdin into the memory file `memory`. Returns the number of bytes.
Result<uint64_t> Spool(int memory, uint64_t max_bytes) {
  uint64_t total = 0;
  std::string piece(kPieceBytes, '\0');
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read");
    if (got == 0) return total;
    total += static_cast<uint64_t>(got);
    if (total > max_bytes) {
      return Status(Code::kResourceExhausted,
                    fmt::format("{} has more than {} bytes, and a pipe is held "
                                "in memory; put it into a file",
                                kStdin, max_bytes));
    }
    for (ssize_t done = 0; done < got;) {
      const ssize_t put =
          ::write(memory, piece.data() + done, static_cast<size_t>(got - done));
      if (put < 0 && errno != EINTR) return Failed("hold");
      done += std::max<ssize_t>(put, 0);
    }
  }
}

}  // namespace

Result<Source> OpenInput(const std::string& file, uint64_t max_piped_bytes) {
  if (file != "-") return Source(file);
  struct stat input;
  if (::fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode)) {
    return Source::FromDescriptor(STDIN_FILENO, kStdin);
  }
  const ipc::UniqueFd memory(::memfd_create("bulkhead-stdin", MFD_CLOEXEC));
  if (!memory) return Failed("hold");
  Result<uint64_t> bytes = Spool(memory.get(), max_piped_bytes);
  if (!bytes) return bytes.error();
  return Source::FromDescriptor(memory.get(), kStdin);
}

}  // namespace bulkhead::cli::decode
