// SPDX-License-Identifier: Apache-2.0
#include "tools/install/unpacked.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/bounded_file.h"
#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "ipc/unique_fd.h"
#include "tools/install/record.h"
#include "tools/install/tree.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;

// The folders of an unpacked distribution.
struct Location {
  std::string root;       // The folder that RECORD's paths are relative to.
  std::string dist_info;  // The name of the dist-info folder in `root`.
};

// Returns the folders of the distribution that `path` names. `path` is an
// argument of StageUnpacked().
Result<Location> Locate(const std::string& path) {
  fs::path folder = fs::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  if (folder.string().ends_with(discovery::kDistInfoSuffix)) {
    const std::string root = folder.parent_path();
    return Location{root.empty() ? "." : root, folder.filename()};
  }
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.ends_with(discovery::kDistInfoSuffix)) found.push_back(name);
  }
  if (error) return FromErrno(Quoted(path), error.value());
  if (found.size() == 1) return Location{folder, found.front()};
  return Status(Code::kInvalidArgument,
                Quoted(path) + " holds " + std::to_string(found.size()) +
                    " dist-info folders: name the one to install");
}

// Copies one file from the open directory `from`, and verifies it.
Status CopyFile(int from, int staging, const RecordLine& line) {
  const Result<ipc::UniqueFd> source = OpenRegularFileBeneath(from, line.path);
  if (!source) return Status(Code::kBadInput, source.error().message());
  struct stat info;
  if (fstat(source->get(), &info) != 0) {
    return FromErrno(Quoted(line.path), errno);
  }
  Result<StagedFile> file =
      StagedFile::Create(staging, line, (info.st_mode & 0111) != 0);
  if (!file) return file.error();
  std::vector<char> buffer(size_t{1} << 16);
  while (true) {
    const ssize_t got = read(source->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FromErrno(Quoted(line.path), errno);
    if (got == 0) return file->Finish();
    Status status =
        file->Append(std::span(buffer.data(), static_cast<size_t>(got)));
    if (!status.ok()) return status;
  }
}

// Returns true if the line names a file to copy. Otherwise adds a diagnostic,
// unless the user expects the file to be left out.
bool IsCopied(const RecordLine& line, const Location& location,
              Diagnostics& diagnostics) {
  const std::string folder = location.dist_info + "/";
  if (line.path.starts_with(folder) &&
      IsReplacedOnInstall(line.path.substr(folder.size()))) {
    return false;
  }
  const Status status = ValidatePath(line.path);
  if (status.ok() && line.algorithm && line.size) return true;
  if (!status.ok() || !line.path.ends_with(".pyc")) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning,
         location.root + "/" + folder + "RECORD",
         static_cast<uint32_t>(line.line),
         "left out: " + (status.ok() ? Quoted(line.path) + " has no hash"
                                     : status.message())});
  }
  return false;
}

// Copies the files of `lines` from `root`, the open folder of the location.
Status StageFiles(const Location& location, int root, int staging,
                  const std::vector<RecordLine>& lines, Staged& staged) {
  uint64_t total = 0;
  for (const RecordLine& line : lines) {
    if (!IsCopied(line, location, staged.diagnostics)) continue;
    const std::string first = line.path.substr(0, line.path.find('/'));
    if (first.ends_with(discovery::kDistInfoSuffix) &&
        first != location.dist_info) {
      return Status(Code::kBadInput,
                    Quoted(line.path) + " belongs to another distribution");
    }
    if (*line.size > kMaxTotalBytes - total) {
      return Status(Code::kBadInput, "more than 4 GiB");
    }
    total += *line.size;
    Status status = CopyFile(root, staging, line);
    if (!status.ok()) return status;
    staged.files.push_back(line);
  }
  return Status();
}

}  // namespace

Result<Staged> StageUnpacked(const std::string& path, int staging) {
  const Result<Location> location = Locate(path);
  if (!location) return location.error();
  const ipc::UniqueFd root(
      open(location->root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return FromErrno(Quoted(location->root), errno);
  const Result<std::string> record = ReadFileBeneath(
      root.get(), location->dist_info + "/RECORD", kMaxRecordBytes);
  if (!record) {
    return Status(Code::kBadInput,
                  record.error().message() +
                      ": without a RECORD nobody knows what to copy");
  }
  const Result<std::vector<RecordLine>> lines = ParseRecord(*record);
  if (!lines) return lines.error().WithContext(Quoted(location->dist_info));
  if (lines->size() > kMaxFiles) {
    return Status(Code::kBadInput,
                  "more than " + std::to_string(kMaxFiles) + " files");
  }
  Staged staged;
  staged.dist_info = location->dist_info;
  Status status = StageFiles(*location, root.get(), staging, *lines, staged);
  if (!status.ok()) return status.WithContext(Quoted(path));
  return staged;
}

}  // namespace bulkhead::install
