// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bulkhead::writers {
namespace {

// The size of the buffer: the default capacity of a pipe, which a single
// write() can fill.
constexpr size_t kGatherBytes = 64 * 1024;

Status Failed(std::string_view what, const std::string& name, int error) {
  const std::string message = fmt::format(
      "cannot {} {}: {}", what, name, std::generic_category().message(error));
  if (error == EFBIG) {
    return Status(Code::kResourceExhausted,
                  message +
                      "; raise the limit on the size of a file (ulimit "
                      "-f), or write to another file system");
  }
  return Status(Code::kInvalidArgument, message);
}

}  // namespace

Output::Output(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}

Output::~Output() {
  if (fd_ != STDOUT_FILENO) close(fd_);
}

Result<std::unique_ptr<Output>> Output::Open(const std::string& path) {
  if (path == "-") {
    return std::unique_ptr<Output>(new Output("stdout", STDOUT_FILENO));
  }
  const std::filesystem::path parent =
      std::filesystem::path(path).parent_path();
  if (!parent.empty()) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) {
      return Failed("create the directory", parent.string(), error.value());
    }
  }
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return Failed("create", path, errno);
  return std::unique_ptr<Output>(new Output(path, fd));
}

Status Output::Write(std::span<const std::byte> bytes) {
  if (gathered_.size() + bytes.size() < kGatherBytes) {
    gathered_.insert(gathered_.end(), bytes.begin(), bytes.end());
    return Status();
  }
  if (Status status = Flush(); !status.ok()) return status;
  if (bytes.size() >= kGatherBytes) return WriteNow(bytes);
  gathered_.assign(bytes.begin(), bytes.end());
  return Status();
}

Status Output::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text)));
}

Status Output::Close() { return Flush(); }

Status Output::Flush() {
  Status status = WriteNow(gathered_);
  gathered_.clear();
  return status;
}

Status Output::WriteNow(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fail(errno);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return Status();
}

Status Output::Fail(int error) {
  failed_ = true;
  reader_gone_ = error == EPIPE;
  return Failed("write to", name_, error);
}

Status Output::Overwrite(uint64_t offset, std::string_view text) {
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) < 0) return Fail(errno);
  return WriteNow(std::as_bytes(std::span(text)));
}

bool Output::overwritable() const {
  struct stat file = {};
  return fd_ != STDOUT_FILENO && fstat(fd_, &file) == 0 &&
         S_ISREG(file.st_mode);
}

bool Output::is_terminal() const { return isatty(fd_) == 1; }

}  // namespace bulkhead::writers
