// SPDX-License-Identifier: Apache-2.0
#include "core/base/state_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/bounded_file.h"

namespace bulkhead {
namespace {

// The age from which a temporary file is removed: a writer that was killed left
// it. A younger file may belong to a writer that is alive.
constexpr time_t kStaleSeconds = 60;
constexpr char kTemporary[] = ".new-";

std::string ErrnoText(int error) {
  return std::generic_category().message(error);
}

Status Refused(const std::string& path, const std::string& why) {
  return Status(Code::kInvalidArgument,
                "the state directory " + path + " does not count: " + why);
}

// Returns the reason why the directory must not be trusted, or an empty string.
std::string Objection(const struct stat& info, const std::string& path) {
  if (info.st_uid != ::geteuid()) {
    return "it belongs to user " + std::to_string(info.st_uid) +
           "; name another by BULKHEAD_STATE_DIR";
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "others may write to it; check what is in it, then: chmod go-w " +
           path;
  }
  return "";
}

// Calls `visit` for each name that begins with `prefix`, until `visit` returns
// false.
template <typename Visit>
void ForEach(int directory, const std::string& prefix, const Visit& visit) {
  const int fd = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(fd), ::closedir);
  if (!open) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(open.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with(prefix) && !visit(name)) return;
  }
}

void RemoveStale(int directory) {
  ForEach(directory, kTemporary, [directory](const std::string& name) {
    struct stat info;
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        info.st_mtime + kStaleSeconds < ::time(nullptr)) {
      ::unlinkat(directory, name.c_str(), 0);
    }
    return true;
  });
}

bool WriteAll(int fd, const std::string& contents) {
  for (size_t at = 0; at < contents.size();) {
    const ssize_t wrote =
        ::write(fd, contents.data() + at, contents.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    at += static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

Result<StateDirectory> StateDirectory::Open(const std::string& path) {
  ipc::UniqueFd directory(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    const int error = errno;
    if (error == ENOENT) {
      return Status(Code::kNotFound, "there is no directory " + path);
    }
    return Refused(path, ErrnoText(error));
  }
  struct stat info;
  if (::fstat(directory.get(), &info) != 0) {
    return Refused(path, ErrnoText(errno));
  }
  if (std::string objection = Objection(info, path); !objection.empty()) {
    return Refused(path, objection);
  }
  RemoveStale(directory.get());
  return StateDirectory(path, std::move(directory));
}

Result<StateDirectory> StateDirectory::OpenOrCreate(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string upper = path.substr(0, slash);
    if (::mkdir(upper.c_str(), 0700) != 0 && errno != EEXIST) {
      return Refused(path, "cannot make " + upper + ": " + ErrnoText(errno));
    }
    if (slash == std::string::npos) return Open(path);
  }
}

Status StateDirectory::CheckKeeps(const std::string& path) {
  const auto directory = Open(path);
  if (directory) return directory->CheckWritable();
  if (directory.error().code() != Code::kNotFound) return directory.error();
  // The directory would be made below its nearest ancestor that exists.
  std::string above = path;
  while (above.size() > 1) {
    above.resize(std::max<size_t>(above.rfind('/'), 1));
    ipc::UniqueFd fd(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (fd) return StateDirectory(above, std::move(fd)).CheckWritable();
    if (errno != ENOENT) return Refused(path, ErrnoText(errno));
  }
  return Status();
}

Result<std::string> StateDirectory::Read(const std::string& name,
                                         size_t max_bytes) const {
  auto contents = ReadFileBeneath(directory_.get(), name, max_bytes);
  if (contents) return contents;
  const bool none = contents.error().code() == Code::kNotFound;
  return Status(none ? Code::kNotFound : Code::kBadInput,
                path_ + "/" + name + ": " + contents.error().message());
}

int StateDirectory::Replace(const std::string& name,
                            const std::string& contents, Durability durability,
                            unsigned flags) const {
  // The name is random, since two writers may write the same record, and may
  // have the same pid in different pid namespaces.
  uint64_t token = 0;
  if (::getrandom(&token, sizeof(token), GRND_NONBLOCK) < 0) return errno;
  const std::string temporary = kTemporary + name + "-" + std::to_string(token);
  const ipc::UniqueFd file(
      ::openat(directory_.get(), temporary.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file && WriteAll(file.get(), contents) &&
      (durability == Durability::kMemory || ::fsync(file.get()) == 0) &&
      ::renameat2(directory_.get(), temporary.c_str(), directory_.get(),
                  name.c_str(), flags) == 0) {
    return 0;
  }
  const int error = errno;
  ::unlinkat(directory_.get(), temporary.c_str(), 0);
  return error != 0 ? error : EIO;
}

Status StateDirectory::Failure(const std::string& name, int error) const {
  if (error == 0) return Status();
  return Status(Code::kResourceExhausted,
                "cannot write " + path_ + "/" + name + ": " + ErrnoText(error));
}

Status StateDirectory::Write(const std::string& name,
                             const std::string& contents) const {
  return Failure(name, Replace(name, contents, Durability::kDisk, 0));
}

Status StateDirectory::WriteSoon(const std::string& name,
                                 const std::string& contents) const {
  return Failure(name, Replace(name, contents, Durability::kMemory, 0));
}

Result<bool> StateDirectory::AddSoon(const std::string& name,
                                     const std::string& contents) const {
  const int error =
      Replace(name, contents, Durability::kMemory, RENAME_NOREPLACE);
  if (error == 0 || error == EEXIST) return error == 0;
  return Failure(name, error);
}

Status StateDirectory::Remove(const std::string& name) const {
  if (::unlinkat(directory_.get(), name.c_str(), 0) == 0 || errno == ENOENT) {
    return Status();
  }
  return Status(Code::kInvalidArgument, "cannot remove " + path_ + "/" + name +
                                            ": " + ErrnoText(errno));
}

Status StateDirectory::CheckWritable() const {
  struct statvfs space = {};
  int error = 0;
  if (::faccessat(directory_.get(), ".", W_OK, AT_EACCESS) != 0) {
    error = errno;
  } else if (::fstatvfs(directory_.get(), &space) == 0 && space.f_blocks > 0 &&
             (space.f_bavail == 0 ||
              (space.f_files > 0 && space.f_favail == 0))) {
    error = ENOSPC;
  }
  if (error == 0) return Status();
  return Status(Code::kResourceExhausted,
                "cannot write to " + path_ + ": " + ErrnoText(error) + "; " +
                    (error == ENOSPC ? "make room" : "make it writable") +
                    ", or name another directory by BULKHEAD_STATE_DIR");
}

std::vector<std::string> StateDirectory::List(const std::string& prefix,
                                              size_t max_names) const {
  std::vector<std::string> names;
  ForEach(directory_.get(), prefix, [&](const std::string& name) {
    names.push_back(name);
    return names.size() < max_names;
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace bulkhead
