// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
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
constexpr size_t kRowsPerStep = 256;
// Takes some milliseconds to hash.
constexpr size_t kPieceBytes = size_t{1} << 20;

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
      if (++entries_ > PackageFiles::kMaxUnrecorded) {
        return Status(Code::kResourceExhausted,
                      "there are more than " +
                          std::to_string(PackageFiles::kMaxUnrecorded) +
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

}  // namespace

Result<ipc::UniqueFd> OpenPackageFile(int directory_fd, const std::string& path,
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

std::string DoubtOf(const ipc::UniqueFd& file, const struct stat& object) {
  if ((object.st_mode & 0444) != 0444) {
    return "is as private as the backend's shared object";
  }
  return HasFurtherNames(file) ? "has further names (hard links)" : "";
}

PackageFiles::PackageFiles(int directory_fd, Distribution distribution,
                           std::string plugin_path, const struct stat& object)
    : directory_fd_(directory_fd),
      distribution_(std::move(distribution)),
      plugin_path_(std::move(plugin_path)),
      object_(object) {}

bool PackageFiles::Step() {
  ++work_.steps;
  if (work_.steps == 1) {
    failure_ = ReadClaims();
    if (!failure_.ok()) return true;
    ListNeighbours();
    return false;
  }
  if (!neighbours_.empty()) {
    const std::string next = std::move(neighbours_.back());
    neighbours_.pop_back();
    ReadNeighbour(next);
    if (neighbours_.empty() && !has_record_ && !sharer_.empty()) {
      diagnostics_.push_back(
          {Diagnostic::Severity::kWarning, distribution_.dist_info_path(), 0,
           "the backend is shown its shared object alone, since what lies "
           "beside it " +
               sharer_ +
               "; give the distribution a RECORD (bulkhead install)"});
      claims_ = {{plugin_path_, ""}};
    }
    row_ = claims_.begin();
    return false;
  }
  if (hashing_) {
    HashPiece();
    return false;
  }
  for (size_t i = 0; i < kRowsPerStep; ++i) {
    if (row_ == claims_.end() || !failure_.ok()) break;
    if (!JudgeRow()) return false;
    ++row_;
    ++work_.rows;
  }
  return row_ == claims_.end() || !failure_.ok();
}

Result<std::vector<PackageFile>> PackageFiles::Take() {
  if (!failure_.ok()) return failure_;
  if (refused_ > kMaxRefusals) {
    diagnostics_.push_back({Diagnostic::Severity::kWarning,
                            distribution_.dist_info_path() + "/RECORD", 0,
                            "not shown to the backend: " +
                                std::to_string(refused_ - kMaxRefusals) +
                                " further files"});
  }
  return std::move(accepted_);
}

Status PackageFiles::ReadClaims() {
  // Its problems are reported where the distribution is found.
  Diagnostics ignored;
  ASSIGN_OR_RETURN(const auto record,
                   ReadRecord(directory_fd_, distribution_, ignored,
                              kMaxBackendsRecordBytes));
  has_record_ = record.has_value();
  if (record && record->size() > kMaxBackendsRecordRows) {
    return Status(Code::kResourceExhausted, RecordTooLong(record->size()));
  }
  if (record) {
    for (const RecordedFile& row : *record) claims_[row.path] = row.hash;
  } else if (const size_t slash = plugin_path_.find('/');
             slash != std::string::npos) {
    FolderListing listing(directory_fd_);
    RETURN_IF_ERROR(listing.Add(plugin_path_.substr(0, slash)));
    for (std::string& path : std::move(listing).Take()) {
      claims_.emplace(std::move(path), "");
    }
  } else {
    claims_.emplace(plugin_path_, "");
  }
  row_ = claims_.begin();
  if (claims_.contains(plugin_path_)) return Status();
  return Status(Code::kNotFound, RecordLacks(plugin_path_));
}

void PackageFiles::ListNeighbours() {
  const Listing listing = ListFolders(directory_fd_, distribution_.directory);
  for (const ListedFolder& folder : listing.folders) {
    // Several versions of one distribution are the same distribution.
    if (folder.normalized_name == distribution_.normalized_name) continue;
    if (neighbours_.size() == kMaxNeighbours) {
      sharer_ = "may belong to another distribution: there are too many";
      break;
    }
    neighbours_.push_back(folder.name);
  }
}

void PackageFiles::ReadNeighbour(const std::string& dist_info) {
  ++work_.neighbours;
  Distribution neighbour;
  neighbour.directory = distribution_.directory;
  neighbour.dist_info = dist_info;
  if (const auto name = ParseFolderName(dist_info)) {
    neighbour.normalized_name = NormalizedName(name->name);
  }
  if (neighbour_bytes_ >= kMaxNeighbourBytes) {
    sharer_ =
        "may belong to another distribution: their RECORDs list too many files";
    neighbours_.clear();
    return;
  }
  Diagnostics ignored;
  const auto record =
      ReadRecord(directory_fd_, neighbour, ignored, kMaxBackendsRecordBytes);
  if (!record) {
    if (SharesFolder(neighbour)) {
      sharer_ = "may belong to " + dist_info +
                ", whose RECORD cannot be read: " + record.error().message();
    }
    return;
  }
  if (!*record) {
    if (SharesFolder(neighbour)) {
      sharer_ = "may belong to " + dist_info + ", which has no RECORD";
    }
    return;
  }
  for (const RecordedFile& row : **record) {
    neighbour_bytes_ += row.path.size() + row.hash.size() + 1;
    if (claims_.contains(row.path)) owners_.emplace(row.path, dist_info);
  }
}

bool PackageFiles::SharesFolder(const Distribution& neighbour) const {
  const std::string folder = plugin_path_.substr(0, plugin_path_.find('/'));
  if (folder == plugin_path_) return false;
  if (NormalizedName(folder) == neighbour.normalized_name) return true;
  Diagnostics ignored;
  // Of any group: a package may have no backend, and files all the same.
  const auto read = ReadDistribution(directory_fd_, neighbour.directory,
                                     neighbour.dist_info, false, ignored);
  return read &&
         std::any_of(read->entry_points.begin(), read->entry_points.end(),
                     [&](const EntryPoint& entry) {
                       return entry.module.substr(0, entry.module.find('.')) ==
                              folder;
                     });
}

std::string PackageFiles::DoubtAbout(const std::string& path,
                                     const ipc::UniqueFd& file) const {
  const size_t slash = plugin_path_.find('/');
  const bool of_metadata = path.starts_with(distribution_.dist_info + "/");
  const bool beside = slash != std::string::npos &&
                      path.starts_with(plugin_path_.substr(0, slash + 1));
  if (const std::string doubt = DoubtOf(file, object_);
      !doubt.empty() && (beside || of_metadata)) {
    return doubt;
  }
  if (of_metadata) return "";
  if (!beside) return "lies outside of the backend's folder";
  return sharer_;
}

bool PackageFiles::JudgeRow() {
  const std::string& path = row_->first;
  const auto opened = OpenPackageFile(directory_fd_, path, object_);
  if (!opened && opened.error().code() != Code::kNotFound) {
    path == plugin_path_ ? void(failure_ = opened.error())
                         : Refuse(opened.error());
    return true;
  }
  PackageFile file{.path = path, .hashed = {}};
  // The object may have several names: nobody reads it but its own code, and no
  // package can take a backend away by naming the backend's object.
  if (path != plugin_path_) {
    if (const auto owner = owners_.find(path); owner != owners_.end()) {
      Refuse(Refused(path, "is also named by the RECORD of " + owner->second));
      return true;
    }
    const std::string doubt = opened ? DoubtAbout(path, *opened) : "";
    if (!doubt.empty()) {
      const auto known = CheckKnown(*opened, doubt, file);
      if (!known) return false;
      if (!known->ok()) {
        Refuse(*known);
        return true;
      }
    }
  }
  accepted_.push_back(std::move(file));
  return true;
}

std::optional<Status> PackageFiles::CheckKnown(const ipc::UniqueFd& opened,
                                               const std::string& doubt,
                                               PackageFile& file) {
  const std::string& recorded = row_->second;
  const Status refused =
      Refused(file.path, doubt +
                             ", and RECORD does not have its hash: install the "
                             "distribution again");
  const size_t equals = recorded.find('=');
  const auto algorithm = HashAlgorithmNamed(recorded.substr(0, equals));
  if (!algorithm || !RecordHash::Parse(recorded)) return refused;
  ipc::UniqueFd reading(
      open(("/proc/self/fd/" + std::to_string(opened.get())).c_str(),
           O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!reading || fstat(reading.get(), &info) != 0) {
    return FromErrno(file.path, file.path);
  }
  const FileIdentity identity = IdentityOf(info);
  if (const auto known =
          digests_.find({{identity.device, identity.inode}, *algorithm});
      known != digests_.end()) {
    std::string_view digest = std::string_view(recorded).substr(equals + 1);
    // RECORD is written without padding, but padding is accepted.
    while (digest.ends_with('=')) digest.remove_suffix(1);
    file.hashed = identity;
    return digest == known->second.digest && identity == known->second.identity
               ? Status()
               : refused;
  }
  const auto bytes = static_cast<uint64_t>(info.st_size);
  if (bytes > kMaxHashedBytes || work_.hashed_bytes > kMaxHashedBytes - bytes) {
    return Refused(file.path,
                   doubt +
                       ", and is too large to be compared with RECORD's "
                       "hash: such files of a package may have " +
                       std::to_string(kMaxHashedBytes) + " bytes together");
  }
  hashing_.emplace(Hashing{.file = std::move(reading),
                           .identity = identity,
                           .algorithm = *algorithm,
                           .digest = Digest(*algorithm)});
  return std::nullopt;
}

void PackageFiles::HashPiece() {
  std::vector<char> piece(kPieceBytes);
  const ssize_t got = read(hashing_->file.get(), piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return;
  if (got > 0) {
    hashing_->digest.Append({piece.data(), static_cast<size_t>(got)});
    work_.hashed_bytes += static_cast<uint64_t>(got);
  }
  // A file that grows meanwhile is not the file that RECORD means.
  if (got > 0 && work_.hashed_bytes <= kMaxHashedBytes) return;
  struct stat info = {};
  const bool same = got == 0 && fstat(hashing_->file.get(), &info) == 0 &&
                    IdentityOf(info) == hashing_->identity;
  const FileIdentity& file = hashing_->identity;
  digests_[{{file.device, file.inode}, hashing_->algorithm}] = {
      file, same ? hashing_->digest.Finish() : ""};
  hashing_.reset();
}

void PackageFiles::Refuse(const Status& status) {
  if (++refused_ > kMaxRefusals) return;
  diagnostics_.push_back({Diagnostic::Severity::kWarning,
                          distribution_.dist_info_path() + "/RECORD", 0,
                          "not shown to the backend: " + status.message()});
}

}  // namespace bulkhead::discovery
