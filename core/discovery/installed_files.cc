// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/installed_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/record_hash.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/place_reading.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxRefusals = 16;
constexpr int kMaxDepth = 32;
// A package can name a file of any size, also a sparse one.
constexpr uint64_t kMaxHashedBytes = uint64_t{1} << 30;

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

Status Refused(const std::string& path, const std::string& why) {
  return Status(Code::kInvalidArgument, Quoted(path) + " " + why);
}

Status FromErrno(const std::string& path, const std::string& part) {
  switch (errno) {
    case ENOENT:
    // A file where RECORD has a folder.
    case ENOTDIR:
      return Status(Code::kNotFound, Quoted(path) + " does not exist");
    case ELOOP:
      return Refused(path,
                     "is reached through the symbolic link " + Quoted(part));
    default:
      return Refused(
          path, "cannot be opened: " + std::generic_category().message(errno));
  }
}

// Returns the bits of `mode` for the owner, the group and others that a reader
// of a file with the bits `readable` has to find in a folder.
mode_t EnterBits(mode_t readable) { return (readable & 0444) >> 2; }

Status CheckFolder(const struct stat& folder, const std::string& path,
                   const std::string& part, const struct stat& object) {
  if (S_ISLNK(folder.st_mode)) {
    errno = ELOOP;
    return FromErrno(path, part);
  }
  if (!S_ISDIR(folder.st_mode)) {
    errno = ENOTDIR;
    return FromErrno(path, part);
  }
  if (folder.st_uid != object.st_uid) {
    return Refused(path, "lies in " + Quoted(part) +
                             ", which does not belong to the owner of the "
                             "backend's shared object");
  }
  if ((EnterBits(object.st_mode) & ~folder.st_mode) != 0) {
    return Refused(path, "lies in " + Quoted(part) +
                             ", which may be entered by fewer users than may "
                             "read the backend's shared object");
  }
  return Status();
}

Status CheckFile(const struct stat& file, const std::string& path,
                 const struct stat& object) {
  if (S_ISLNK(file.st_mode)) return Refused(path, "is a symbolic link");
  if (!S_ISREG(file.st_mode)) return Refused(path, "is not a regular file");
  if (file.st_uid != object.st_uid) {
    return Refused(path,
                   "does not belong to the owner of the backend's shared "
                   "object");
  }
  if ((object.st_mode & 0444 & ~file.st_mode) != 0) {
    return Refused(path,
                   "may be read by fewer users than the backend's shared "
                   "object");
  }
  return Status();
}

// Compares a file with its hash in RECORD. A package could name files that are
// no part of it; it does not know their hashes. `doubt` says why the file might
// be no part of it.
Status CheckKnown(const ipc::UniqueFd& file, const std::string& path,
                  const std::string& recorded, const std::string& doubt) {
  const Status refused =
      Refused(path, doubt +
                        ", and RECORD does not have its hash: install the "
                        "distribution again");
  auto hash = RecordHash::Parse(recorded);
  if (!hash) return refused;
  const ipc::UniqueFd reading(
      open(("/proc/self/fd/" + std::to_string(file.get())).c_str(),
           O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!reading) return FromErrno(path, path);
  std::vector<char> chunk(size_t{1} << 16);
  for (uint64_t bytes = 0; bytes <= kMaxHashedBytes;) {
    const ssize_t got = read(reading.get(), chunk.data(), chunk.size());
    if (got < 0) return FromErrno(path, path);
    if (got == 0) return hash->Matches() ? Status() : refused;
    hash->Add({chunk.data(), static_cast<size_t>(got)});
    bytes += static_cast<uint64_t>(got);
  }
  return Refused(path, "is too large to be compared with RECORD's hash");
}

bool HasFurtherNames(const ipc::UniqueFd& file) {
  struct stat info = {};
  return fstat(file.get(), &info) != 0 || info.st_nlink > 1;
}

// Lists the files below a folder, which is opened without following a link.
class FolderListing {
 public:
  explicit FolderListing(int directory_fd) : directory_fd_(directory_fd) {}

  Status Add(const std::string& folder, int depth = 0) {
    if (depth > kMaxDepth) {
      return Status(Code::kResourceExhausted,
                    Quoted(folder) +
                        " lies too deep: give the distribution a "
                        "RECORD that lists its files");
    }
    const int fd =
        openat(directory_fd_, folder.c_str(),
               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return FromErrno(folder, folder);
    const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(fd));
    if (!stream) {
      close(fd);
      return FromErrno(folder, folder);
    }
    while (const dirent* entry = readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string path = folder + "/" + std::string(name);
      struct stat info = {};
      if (fstatat(fd, entry->d_name, &info,
                  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
        continue;  // It was removed meanwhile.
      }
      // Folders count too, since a tree may consist of nothing else.
      if (++entries_ > kMaxUnrecorded) {
        return Status(Code::kResourceExhausted,
                      "there are more than " + std::to_string(kMaxUnrecorded) +
                          " files beside the shared object: give the "
                          "distribution a RECORD that lists its own");
      }
      if (S_ISDIR(info.st_mode)) {
        RETURN_IF_ERROR(Add(path, depth + 1));
        continue;
      }
      paths_.push_back(path);
    }
    return Status();
  }

  std::vector<std::string> Take() && { return std::move(paths_); }

 private:
  const int directory_fd_;
  size_t entries_ = 0;
  std::vector<std::string> paths_;
};

Result<std::vector<std::string>> ClaimedPaths(
    int directory_fd, const std::optional<std::vector<RecordedFile>>& record,
    const std::string& plugin_path) {
  std::vector<std::string> paths;
  if (record) {
    for (const RecordedFile& file : *record) paths.push_back(file.path);
  } else if (const size_t slash = plugin_path.find('/');
             slash != std::string::npos) {
    FolderListing listing(directory_fd);
    RETURN_IF_ERROR(listing.Add(plugin_path.substr(0, slash)));
    paths = std::move(listing).Take();
  } else {
    paths.push_back(plugin_path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  if (!std::binary_search(paths.begin(), paths.end(), plugin_path)) {
    return Status(Code::kNotFound,
                  "RECORD does not list " + Quoted(plugin_path) +
                      ": install the distribution again, or without a RECORD");
  }
  return paths;
}

}  // namespace

void RecordIndex::Read(int directory_fd) {
  read_ = true;
  const Listing listing = ListFolders(directory_fd, directory_);
  // With a single distribution, no file can have another owner.
  if (listing.folders.size() < 2) return;
  for (const ListedFolder& folder : listing.folders) {
    Distribution distribution;
    distribution.directory = directory_;
    distribution.dist_info = folder.name;
    // The problems of its RECORD are reported where that distribution is read.
    Diagnostics ignored;
    const auto record = ReadRecord(directory_fd, distribution, ignored);
    if (!record || !*record) continue;
    for (const RecordedFile& file : **record) {
      std::vector<Owner>& owners = owners_[file.path];
      const bool known =
          std::any_of(owners.begin(), owners.end(), [&](const Owner& owner) {
            return owner.name == folder.normalized_name;
          });
      if (!known && owners.size() < 2) {
        owners.push_back({folder.normalized_name, folder.name});
      }
    }
  }
}

std::string RecordIndex::OtherOwner(int directory_fd,
                                    const Distribution& distribution,
                                    const std::string& path) {
  if (!read_) Read(directory_fd);
  const auto owners = owners_.find(path);
  if (owners == owners_.end()) return "";
  for (const Owner& owner : owners->second) {
    if (owner.name != distribution.normalized_name) return owner.dist_info;
  }
  return "";
}

Result<ipc::UniqueFd> OpenInstalledFile(int directory_fd,
                                        const std::string& path,
                                        const struct stat& object) {
  // Part by part, since each folder on the way is checked.
  ipc::UniqueFd at;
  size_t begin = 0;
  for (size_t slash = path.find('/'); slash != std::string::npos;
       begin = slash + 1, slash = path.find('/', begin)) {
    const std::string part = path.substr(begin, slash - begin);
    ipc::UniqueFd folder(openat(at ? at.get() : directory_fd, part.c_str(),
                                O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat info = {};
    if (!folder || fstat(folder.get(), &info) != 0) {
      return FromErrno(path, path.substr(0, slash));
    }
    RETURN_IF_ERROR(CheckFolder(info, path, path.substr(0, slash), object));
    at = std::move(folder);
  }
  ipc::UniqueFd file(openat(at ? at.get() : directory_fd,
                            path.substr(begin).c_str(),
                            O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0) return FromErrno(path, path);
  RETURN_IF_ERROR(CheckFile(info, path, object));
  return file;
}

Result<std::vector<std::string>> VisiblePaths(
    int directory_fd, const Distribution& distribution,
    const std::optional<std::vector<RecordedFile>>& record,
    const std::string& plugin_path, const struct stat& object,
    RecordIndex& index, Diagnostics& diagnostics) {
  ASSIGN_OR_RETURN(std::vector<std::string> paths,
                   ClaimedPaths(directory_fd, record, plugin_path));
  const std::string file = distribution.dist_info_path() + "/RECORD";
  const bool is_private = (object.st_mode & 0444) != 0444;
  std::map<std::string_view, std::string_view> hashes;
  if (record) {
    for (const RecordedFile& row : *record) hashes[row.path] = row.hash;
  }
  const size_t slash = plugin_path.find('/');
  const std::string folder =
      slash == std::string::npos ? "" : plugin_path.substr(0, slash + 1);
  // Returns why a file might be no part of the package; empty if there is no
  // doubt.
  const auto doubt_of = [&](const std::string& path,
                            const ipc::UniqueFd& opened) -> std::string {
    if (is_private) return "is as private as the backend's shared object";
    if ((folder.empty() || !path.starts_with(folder)) &&
        !path.starts_with(distribution.dist_info + "/")) {
      return "lies outside of the backend's folder";
    }
    return HasFurtherNames(opened) ? "has further names (hard links)" : "";
  };
  std::vector<std::string> accepted;
  size_t refused = 0;
  for (std::string& path : paths) {
    const auto opened = OpenInstalledFile(directory_fd, path, object);
    Status status = opened ? Status() : opened.error();
    if (status.code() == Code::kNotFound) status = Status();
    // The object may have several names: nobody reads it but its own code, and
    // no package can take a backend away by naming the backend's object.
    if (path == plugin_path) {
      RETURN_IF_ERROR(status);
    } else if (const std::string other =
                   index.OtherOwner(directory_fd, distribution, path);
               status.ok() && !other.empty()) {
      status = Refused(path, "is also named by the RECORD of " + other);
    } else if (opened) {
      if (const std::string doubt = doubt_of(path, *opened); !doubt.empty()) {
        status = CheckKnown(*opened, path, std::string(hashes[path]), doubt);
      }
    }
    if (status.ok()) {
      accepted.push_back(std::move(path));
      continue;
    }
    if (++refused <= kMaxRefusals) {
      diagnostics.push_back({Diagnostic::Severity::kWarning, file, 0,
                             "not shown to the backend: " + status.message()});
    }
  }
  if (refused > kMaxRefusals) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, file, 0,
         "not shown to the backend: " + std::to_string(refused - kMaxRefusals) +
             " further files"});
  }
  return accepted;
}

}  // namespace bulkhead::discovery
