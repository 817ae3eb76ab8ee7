// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grant_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "ipc/unique_fd.h"

namespace bulkhead::grants {
namespace {

constexpr off_t kMaxBytes = 1 << 20;

Status Refused(std::string reason) {
  return Status(Code::kInvalidArgument, std::move(reason));
}

std::string ErrnoText(int error) {
  return std::generic_category().message(error);
}

// Returns the reason why the file must not be believed, or an empty string.
std::string Objection(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return "it is no regular file";
  if (info.st_uid != 0 && info.st_uid != geteuid()) {
    return "it belongs to user " + std::to_string(info.st_uid) +
           ", and only root's and your own grants count; if they are yours: "
           "chown " +
           std::to_string(geteuid()) + " " + path;
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "others may write to it; check what is in it, then: chmod go-w " +
           path;
  }
  if (info.st_size > kMaxBytes) return "it is larger than a mebibyte";
  return "";
}

// Reads the file to its end. Returns false if that fails, or beyond kMaxBytes.
bool ReadAll(int fd, std::string& text) {
  std::array<char, 16384> piece;
  for (;;) {
    const ssize_t bytes = read(fd, piece.data(), piece.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return false;
    if (bytes == 0) return true;
    text.append(piece.data(), static_cast<size_t>(bytes));
    if (text.size() > static_cast<size_t>(kMaxBytes)) return false;
  }
}

// Returns a text that changes when the file is written, replaced, made or
// removed, or when its owner or mode changes.
std::string StateOf(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return ErrnoText(errno);
  std::string state;
  for (const auto number :
       {static_cast<int64_t>(info.st_dev), static_cast<int64_t>(info.st_ino),
        static_cast<int64_t>(info.st_size),
        static_cast<int64_t>(info.st_mtim.tv_sec),
        static_cast<int64_t>(info.st_mtim.tv_nsec),
        static_cast<int64_t>(info.st_ctim.tv_sec),
        static_cast<int64_t>(info.st_ctim.tv_nsec)}) {
    state += std::to_string(number) + " ";
  }
  return state;
}

}  // namespace

Result<std::string> ReadBelievedFile(const std::string& path) {
  // The file may be a FIFO, on which open() would block without O_NONBLOCK.
  const ipc::UniqueFd file(open(
      path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return Status(Code::kNotFound, "it does not exist");
    }
    if (errno == ELOOP) {
      return Refused(
          "it is a symbolic link; put the file itself there, or name it by "
          "BULKHEAD_GRANTS");
    }
    return Refused(ErrnoText(errno));
  }
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return Refused(ErrnoText(errno));
  if (std::string objection = Objection(info, path); !objection.empty()) {
    return Refused(std::move(objection));
  }
  std::string text;
  if (!ReadAll(file.get(), text)) return Refused("it cannot be read");
  return text;
}

Grants ReadGrantFile(const std::string& path) {
  const Result<std::string> text = ReadBelievedFile(path);
  if (text) return ParseGrants(*text, path);
  Grants none;
  if (text.error().code() != Code::kNotFound) {
    none.diagnostics.push_back({Diagnostic::Severity::kError, path, 0,
                                "grants nothing: " + text.error().message()});
  }
  return none;
}

GrantReader::GrantReader(std::vector<std::string> paths) {
  for (std::string& path : paths) {
    sources_.push_back({std::move(path), "", {}});
  }
}

const Grants& GrantReader::Latest() {
  bool changed = !is_read_;
  for (Source& source : sources_) {
    // The state is taken before reading: a change after it is noticed next
    // time.
    std::string state = StateOf(source.path);
    if (is_read_ && state == source.state) continue;
    source.grants = ReadGrantFile(source.path);
    source.state = std::move(state);
    changed = true;
  }
  is_read_ = true;
  if (!changed) return all_;
  all_ = Grants();
  for (const Source& source : sources_) {
    const Grants& more = source.grants;
    all_.grants.insert(all_.grants.end(), more.grants.begin(),
                       more.grants.end());
    all_.diagnostics.insert(all_.diagnostics.end(), more.diagnostics.begin(),
                            more.diagnostics.end());
  }
  return all_;
}

}  // namespace bulkhead::grants
