// SPDX-License-Identifier: Apache-2.0
#include "core/session/media_input.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace bulkhead::session {
namespace {

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

}  // namespace

Result<MediaInput> MediaInput::Open(const std::string& path) {
  // Without O_NONBLOCK a FIFO would block here before it could be refused.
  ipc::UniqueFd media(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!media) {
    const int error = errno;
    return Status(CodeOf(error), "cannot open " + path + ": " +
                                     std::generic_category().message(error));
  }
  struct stat file;
  if (::fstat(media.get(), &file) != 0 || !S_ISREG(file.st_mode)) {
    return Status(Code::kInvalidArgument,
                  path + (S_ISDIR(file.st_mode)
                              ? " is a directory; name a media file"
                              : " is not a regular file; name a media file"));
  }
  if (file.st_size == 0) {
    return Status(Code::kBadInput, path + " is empty");
  }
  return MediaInput(path, std::move(media), file);
}

std::string MediaInput::name_hint() const {
  return path_.substr(path_.find_last_of('/') + 1);
}

Crash::Input MediaInput::Identify() const {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path_, error);
  return {.path = error ? path_ : absolute.string(),
          .bytes = file_.st_size,
          .modified_ns =
              file_.st_mtim.tv_sec * 1'000'000'000 + file_.st_mtim.tv_nsec,
          .device = file_.st_dev,
          .inode = file_.st_ino};
}

}  // namespace bulkhead::session
