// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/application/worker_link/media_identity.h"
#include "core/application/worker_link/media_input.h"
#include "ipc/unique_fd.h"

namespace bulkhead {
namespace {

using worker_link::IdentityOf;
using worker_link::MediaData;

std::string ErrnoText() { return std::generic_category().message(errno); }

// Returns `name`, or `otherwise` if the application gave no name.
std::string NameOr(std::string name, const char* otherwise) {
  return name.empty() ? otherwise : std::move(name);
}

bool WriteAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Source::Source(std::string path) : name_(std::move(path)) {}
Source::Source(const char* path) : name_(path) {}

Result<Source> Source::FromMemory(std::span<const std::byte> bytes,
                                  std::string name) {
  auto data = std::make_shared<MediaData>();
  data->bytes = static_cast<int64_t>(bytes.size());
  data->identity =
      name.empty() ? IdentityOf(bytes) : IdentityOf(name, data->bytes);
  name = NameOr(std::move(name), "the memory");
  if (bytes.empty()) return Status(Code::kBadInput, name + " is empty");
  data->fd = ipc::UniqueFd(
      ::memfd_create("bulkhead-media", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  constexpr int kSeals =
      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (!data->fd || !WriteAll(data->fd.get(), bytes) ||
      ::fcntl(data->fd.get(), F_ADD_SEALS, kSeals) != 0) {
    return Status(Code::kResourceExhausted,
                  "no memory for a copy of " + name + ": " + ErrnoText());
  }
  return Source(std::move(name), std::move(data));
}

Result<Source> Source::FromDescriptor(int fd, std::string name) {
  name = NameOr(std::move(name), "the descriptor");
  auto data = std::make_shared<MediaData>();
  if (::fstat(fd, &data->file) != 0 || !S_ISREG(data->file.st_mode)) {
    return Status(
        Code::kInvalidArgument,
        name +
            " is not a regular file or memfd; read all of it into memory "
            "and open that, or serve it by a reader of your own");
  }
  if (data->file.st_size == 0) {
    return Status(Code::kBadInput, name + " is empty");
  }
  // Opens the file again: unlike a duplicate of the caller's descriptor, the
  // new descriptor is read-only and has its own offset.
  data->fd =
      ipc::UniqueFd(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                           O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!data->fd) {
    return Status(Code::kInvalidArgument,
                  name + " cannot be opened for reading: " + ErrnoText());
  }
  data->bytes = data->file.st_size;
  data->identity = IdentityOf(data->file);
  return Source(std::move(name), std::move(data));
}

Result<Source> Source::FromReader(SourceReader reader, std::string name) {
  if (!reader.read || reader.bytes == 0 || reader.bytes > INT64_MAX) {
    return Status(Code::kInvalidArgument,
                  NameOr(std::move(name), "the reader") +
                      " needs a function that reads, and bytes to be read");
  }
  auto data = std::make_shared<MediaData>();
  data->bytes = static_cast<int64_t>(reader.bytes);
  data->reader = std::move(reader);
  data->identity = name.empty() ? IdentityOf(std::span<const std::byte>())
                                : IdentityOf(name, data->bytes);
  return Source(NameOr(std::move(name), "the reader"), std::move(data));
}

Result<Source> Source::FromReader(SeekingReader reader, std::string name) {
  if (!reader.read || !reader.seek) {
    return Status(Code::kInvalidArgument,
                  NameOr(std::move(name), "the reader") +
                      " needs two functions, one that reads and one that "
                      "seeks");
  }
  Result<int64_t> bytes = reader.seek(0, SEEK_END);
  if (!bytes) return bytes.error();
  if (*bytes < 0) {
    return Status(
        Code::kInvalidArgument,
        NameOr(std::move(name), "the reader") + " ends at a position below 0");
  }
  auto read = [reader = std::move(reader)](
                  uint64_t offset, std::span<std::byte> out) -> Result<size_t> {
    Result<int64_t> position =
        reader.seek(static_cast<int64_t>(offset), SEEK_SET);
    if (!position) return position.error();
    if (*position != static_cast<int64_t>(offset)) {
      return Status(Code::kInvalidArgument,
                    "its seek to " + std::to_string(offset) + " went to " +
                        std::to_string(*position));
    }
    return reader.read(out);
  };
  return FromReader(
      SourceReader{std::move(read), static_cast<uint64_t>(*bytes)},
      std::move(name));
}

}  // namespace bulkhead
