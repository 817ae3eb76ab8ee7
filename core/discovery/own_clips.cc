// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/own_clips.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "core/base/bounded_file.h"
#include "core/base/record_hash.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/package_file_opening.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {
namespace {

// Sets the identity and the hash of `clip`, or returns its fault.
Status Judge(int directory_fd, const std::vector<RecordedFile>* rows,
             const struct stat& object, OwnClip& clip) {
  // The file is opened first, since a message about the file is more exact than
  // one about RECORD.
  ASSIGN_OR_RETURN(const ipc::UniqueFd file,
                   OpenPackageFile(directory_fd, clip.path, object));
  const RecordedFile* row = nullptr;
  for (size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    if ((*rows)[i].path == clip.path) row = &(*rows)[i];
  }
  if (row == nullptr) {
    return Status(Code::kInvalidArgument,
                  Quoted(clip.path) +
                      " is not among the files that RECORD lists and that are "
                      "the distribution's own");
  }
  struct stat info = {};
  if (fstat(file.get(), &info) != 0 || info.st_size <= 0 ||
      info.st_size > static_cast<off_t>(kMaxOwnClipBytes)) {
    return Status(Code::kResourceExhausted,
                  Quoted(clip.path) + " has " + std::to_string(info.st_size) +
                      " bytes and should have 1 to " +
                      std::to_string(kMaxOwnClipBytes));
  }
  clip.identity = IdentityOf(info);
  if (const std::string doubt = DoubtOf(file, object); !doubt.empty()) {
    clip.hash = row->hash;
    if (!RecordHash::Parse(row->hash)) {
      return Status(Code::kInvalidArgument,
                    Quoted(clip.path) + " " + doubt +
                        ", and RECORD does not have its hash");
    }
  }
  return Status();
}

}  // namespace

std::vector<OwnClip> FindOwnClips(
    int directory_fd, const std::string& dist_info, const Manifest& manifest,
    const std::vector<RecordedFile>* rows, const struct stat& object,
    const std::string& file, Diagnostics& diagnostics) {
  std::vector<OwnClip> clips;
  for (const HealthCheckClip& named : manifest.health_check) {
    OwnClip clip{.path = dist_info + "/" + named.path,
                 .picture_md5s = named.picture_md5s};
    const Status judged = Judge(directory_fd, rows, object, clip);
    if (!judged.ok()) {
      clip.fault = judged.message();
      diagnostics.push_back({Diagnostic::Severity::kWarning, file, 0,
                             "a clip of health_check cannot be used, so that "
                             "no reload to this version succeeds: " +
                                 clip.fault});
    }
    clips.push_back(std::move(clip));
  }
  return clips;
}

Result<std::string> ReadOwnClip(const std::string& directory,
                                const OwnClip& clip) {
  if (!clip.fault.empty()) {
    return Status(Code::kInvalidArgument, clip.fault);
  }
  const ipc::UniqueFd opened(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    return Status(Code::kBackendUnavailable,
                  directory + ": " + std::generic_category().message(errno));
  }
  ASSIGN_OR_RETURN(const ipc::UniqueFd file,
                   OpenRegularFileBeneath(opened.get(), clip.path));
  std::string bytes(static_cast<size_t>(clip.identity.bytes), '\0');
  const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), 0);
  // The identity is compared after reading: if it is the same now, the bytes
  // come from the file that was found.
  struct stat info = {};
  if (got != static_cast<ssize_t>(bytes.size()) ||
      fstat(file.get(), &info) != 0 || !(IdentityOf(info) == clip.identity)) {
    return Status(Code::kNotFound, Quoted(clip.path) +
                                       " has changed since the backend was "
                                       "found");
  }
  if (!clip.hash.empty()) {
    ASSIGN_OR_RETURN(RecordHash hash, RecordHash::Parse(clip.hash));
    hash.Add(bytes);
    if (!hash.Matches()) {
      return Status(Code::kInvalidArgument,
                    Quoted(clip.path) + " does not have the hash in RECORD");
    }
  }
  return bytes;
}

}  // namespace bulkhead::discovery
