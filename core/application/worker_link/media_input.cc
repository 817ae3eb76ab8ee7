// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/media_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/application/worker_link/media_identity.h"

namespace bulkhead::worker_link {
namespace {

// The most bytes of a file name, and of a path, on Linux. Requests contain
// both, so they must be bounded.
constexpr size_t kMostHintBytes = 255;
constexpr size_t kMostNameBytes = 4096;

Code CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    default:
      return Code::kInvalidArgument;
  }
}

// Returns advice for a file that was not found if its name is a URL, and an
// empty text otherwise.
std::string AdviceFor(const std::string& name) {
  constexpr std::string_view kFile = "file://";
  const size_t scheme = name.find("://");
  if (scheme == std::string::npos || name.find('/') < scheme) return "";
  if (name.starts_with(kFile)) {
    return "; Bulkhead takes paths and no URLs: name " +
           name.substr(kFile.size());
  }
  return "; Bulkhead opens no URLs: download it first, or pipe it into the "
         "input - (curl URL | bulkhead decode -)";
}

const char* DescribeKind(mode_t mode) {
  if (S_ISDIR(mode)) return " is a directory; name a media file";
  if (S_ISFIFO(mode)) {
    return " is a pipe and has no end to seek from; write its data to a file "
           "first, or pipe them into the input - (bulkhead decode - < PIPE)";
  }
  return " is not a regular file; name a media file";
}

}  // namespace

Result<MediaInput> MediaInput::Open(const Source& source) {
  const std::string& name = source.name_;
  if (name.size() > kMostNameBytes) {
    return Status(Code::kInvalidArgument,
                  "the name of a source has " + std::to_string(name.size()) +
                      " bytes; at most " + std::to_string(kMostNameBytes) +
                      " are possible");
  }
  if (source.data_) return MediaInput(name, source.data_);
  auto data = std::make_shared<MediaData>();
  // Without O_NONBLOCK, open() of a FIFO would block, and the FIFO could not be
  // refused below.
  data->fd = ipc::UniqueFd(
      ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!data->fd) {
    const int error = errno;
    return Status(CodeOf(error), "cannot open " + name + ": " +
                                     std::generic_category().message(error) +
                                     (error == ENOENT ? AdviceFor(name) : ""));
  }
  struct stat& file = data->file;
  if (::fstat(data->fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) {
    return Status(Code::kInvalidArgument, name + DescribeKind(file.st_mode));
  }
  if (file.st_size == 0) {
    // Files of /proc and /sys have contents, but the size 0.
    char first;
    if (::pread(data->fd.get(), &first, 1, 0) == 1) {
      return Status(Code::kInvalidArgument,
                    name +
                        " has contents, but no size, as the files of /proc "
                        "and /sys; copy it to a file first");
    }
    return Status(Code::kBadInput, name + " is empty");
  }
  data->bytes = file.st_size;
  data->identity = IdentityOf(file);
  return MediaInput(name, std::move(data));
}

int64_t MediaInput::lost_bytes() const {
  struct stat now;
  if (fd() < 0 || ::fstat(fd(), &now) != 0) return 0;
  return std::max<int64_t>(bytes() - now.st_size, 0);
}

std::string MediaInput::name_hint() const {
  // Keeps the end of a name that is too long, since the extension is there.
  const size_t base = name_.find_last_of('/') + 1;
  const size_t tail = name_.size() - std::min(name_.size(), kMostHintBytes);
  return name_.substr(std::max(base, tail));
}

Crash::Input MediaInput::Identify() const {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(name_, error);
  const struct stat& file = data_->file;
  return {
      .path = error ? name_ : absolute.string(),
      .bytes = data_->bytes,
      .modified_ns = file.st_mtim.tv_sec * 1'000'000'000 + file.st_mtim.tv_nsec,
      .device = file.st_dev,
      .inode = file.st_ino};
}

}  // namespace bulkhead::worker_link
