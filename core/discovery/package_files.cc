// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/package_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/package_file_opening.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxRefusals = 16;
constexpr int kMaxDepth = 32;
constexpr size_t kRowsPerStep = 256;

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

// Lists the files below a folder, for a distribution without a RECORD. Follows
// no link.
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
    if (fd < 0) return FailedToOpen(folder, folder);
    const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(fd));
    if (!stream) {
      close(fd);
      return FailedToOpen(folder, folder);
    }
    while (const dirent* entry = readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      const std::string path = folder + "/" + std::string(name);
      struct stat info = {};
      if (fstatat(fd, entry->d_name, &info,
                  AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0) {
        continue;  // The file was removed meanwhile.
      }
      // Folders count too, since a tree may consist of folders alone.
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

PackageFiles::PackageFiles(int directory_fd, Distribution distribution,
                           std::string plugin_path, const struct stat& object)
    : directory_fd_(directory_fd),
      distribution_(std::move(distribution)),
      plugin_path_(std::move(plugin_path)),
      object_(object),
      neighbours_(directory_fd, distribution_, plugin_path_) {}

// The first step reads the claims, and the next ones the neighbours' RECORDs.
// The others judge the rows, and hash the files that JudgeRow() compares.
bool PackageFiles::Step() {
  if (!std::exchange(begun_, true)) {
    failure_ = ReadClaims();
    if (!failure_.ok()) return true;
    neighbours_.List();
    return false;
  }
  if (!neighbours_.done()) {
    neighbours_.ReadNext(claims_);
    if (neighbours_.done() && !has_record_ && !neighbours_.sharer().empty()) {
      diagnostics_.push_back(
          {Diagnostic::Severity::kWarning, distribution_.dist_info_path(), 0,
           "the backend is shown its shared object alone, since what lies "
           "beside it " +
               neighbours_.sharer() +
               "; give the distribution a RECORD (bulkhead install)"});
      claims_ = {{plugin_path_, ""}};
      row_ = claims_.begin();
    }
    return false;
  }
  if (content_.hashing()) {
    content_.HashPiece();
    return false;
  }
  for (size_t i = 0; i < kRowsPerStep; ++i) {
    if (row_ == claims_.end() || !failure_.ok()) break;
    if (!JudgeRow()) return false;
    ++row_;
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
  // Problems of RECORD were reported when discovery found the distribution.
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

std::string PackageFiles::DoubtAbout(const std::string& path,
                                     const ipc::UniqueFd& file) const {
  const size_t slash = plugin_path_.find('/');
  const bool of_metadata = path.starts_with(distribution_.dist_info + "/");
  const bool beside = slash != std::string::npos &&
                      path.starts_with(plugin_path_.substr(0, slash + 1));
  // A file outside of both folders is doubtful for that reason alone.
  if (const std::string doubt = DoubtOf(file, object_);
      !doubt.empty() && (beside || of_metadata)) {
    return doubt;
  }
  if (of_metadata) return "";
  if (!beside) return "lies outside of the backend's folder";
  return neighbours_.sharer();
}

bool PackageFiles::JudgeRow() {
  const std::string& path = row_->first;
  const auto opened = OpenPackageFile(directory_fd_, path, object_);
  // A missing file is accepted, so that the start of the backend reports it.
  if (!opened && opened.error().code() != Code::kNotFound) {
    if (path == plugin_path_) {
      failure_ = opened.error();
    } else {
      Refuse(opened.error());
    }
    return true;
  }
  PackageFile file{.path = path, .hashed = {}};
  // The object is exempt from the checks below: only its own code reads it. So
  // no package can make a backend unusable by naming its object in another
  // RECORD.
  if (path != plugin_path_) {
    if (const std::string* owner = neighbours_.OwnerOf(path)) {
      Refuse(RefusedFile(path, "is also named by the RECORD of " + *owner));
      return true;
    }
    const std::string doubt = opened ? DoubtAbout(path, *opened) : "";
    if (!doubt.empty()) {
      const auto same = content_.Compare(*opened, row_->second, path, doubt);
      if (!same) return false;
      if (!*same) {
        Refuse(same->error());
        return true;
      }
      file.hashed = **same;
    }
  }
  accepted_.push_back(std::move(file));
  return true;
}

void PackageFiles::Refuse(const Status& status) {
  if (++refused_ > kMaxRefusals) return;
  diagnostics_.push_back({Diagnostic::Severity::kWarning,
                          distribution_.dist_info_path() + "/RECORD", 0,
                          "not shown to the backend: " + status.message()});
}

}  // namespace bulkhead::discovery
