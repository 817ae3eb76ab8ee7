// SPDX-License-Identifier: Apache-2.0
#include "tools/install/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "ipc/unique_fd.h"
#include "tools/install/staging.h"
#include "tools/install/tree.h"

namespace bulkhead::install {
namespace {

using Entry = Archive::Entry;

struct CloseEntry {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

Status Refused(const std::string& path, const std::string& why) {
  return Status(Code::kBadInput, Quoted(path) + ": " + why);
}

// Returns the entry with this index, or nullopt if it is a folder.
Result<std::optional<Entry>> ReadEntry(zip_t* archive, uint64_t index) {
  zip_stat_t info;
  zip_stat_init(&info);
  constexpr zip_uint64_t kWanted = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                                   ZIP_STAT_COMP_METHOD |
                                   ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, ZIP_FL_ENC_RAW, &info) != 0 ||
      (info.valid & kWanted) != kWanted) {
    return Status(Code::kBadInput, "a damaged entry in its table of contents");
  }
  Entry entry{info.name, info.size, false, index};
  const bool folder = entry.path.ends_with('/');
  if (folder) entry.path.pop_back();
  if (Status status = ValidatePath(entry.path); !status.ok()) return status;

  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  zip_file_get_external_attributes(archive, index, 0, &system, &attributes);
  // The Unix mode is checked even if the entry claims to come from another
  // operating system, since other readers may use the mode regardless.
  const uint32_t mode = attributes >> 16;
  const uint32_t type = mode & S_IFMT;
  if (type != 0 && type != (folder ? S_IFDIR : S_IFREG)) {
    return Refused(entry.path, type == S_IFLNK
                                   ? "a link; a wheel has files only"
                                   : "neither a file nor a folder");
  }
  if (folder) {
    if (entry.size_untrusted != 0) {
      return Refused(entry.path, "a folder with contents");
    }
    return std::optional<Entry>();
  }
  if (info.encryption_method != ZIP_EM_NONE) {
    return Refused(entry.path, "encrypted");
  }
  if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE) {
    return Refused(entry.path, "compressed with something but deflate");
  }
  entry.executable = (mode & 0111) != 0;
  return std::optional(std::move(entry));
}

}  // namespace

void Archive::Discard::operator()(zip* archive) const { zip_discard(archive); }

Result<Archive> Archive::Open(const std::string& path) {
  ipc::UniqueFd fd(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd) {
    const bool absent = errno == ENOENT;
    const Status status = FromErrno(Quoted(path), errno);
    return absent ? Status(Code::kNotFound, status.message()) : status;
  }
  struct stat info;
  if (fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Status(Code::kInvalidArgument, Quoted(path) + " is no regular file");
  }
  int error = 0;
  Archive archive(zip_fdopen(fd.get(), ZIP_CHECKCONS, &error));
  if (!archive.archive_) {
    zip_error_t reason;
    zip_error_init_with_code(&reason, error);
    const std::string why = error == ZIP_ER_EXISTS
                                ? "two entries of one name"
                                : zip_error_strerror(&reason);
    zip_error_fini(&reason);
    return Status(Code::kBadInput,
                  Quoted(path) + " is no intact zip file: " + why);
  }
  fd.release();  // libzip owns the descriptor now.
  if (Status status = archive.ReadContents(); !status.ok()) {
    return status.WithContext(Quoted(path));
  }
  return archive;
}

Status Archive::ReadContents() {
  const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
  if (count < 0 || static_cast<uint64_t>(count) > kMaxFiles) {
    return Status(Code::kBadInput,
                  "more than " + std::to_string(kMaxFiles) + " entries");
  }
  uint64_t total = 0;
  for (uint64_t index = 0; index < static_cast<uint64_t>(count); ++index) {
    Result<std::optional<Entry>> entry = ReadEntry(archive_.get(), index);
    if (!entry) return entry.error();
    if (!*entry) continue;
    if ((*entry)->size_untrusted > kMaxTotalBytes - total) {
      return Status(Code::kBadInput, "more than 4 GiB when unpacked");
    }
    total += (*entry)->size_untrusted;
    entries_.push_back(**std::move(entry));
  }
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.path < b.path; });
  const auto twice = std::adjacent_find(
      entries_.begin(), entries_.end(),
      [](const Entry& a, const Entry& b) { return a.path == b.path; });
  if (twice != entries_.end()) {
    return Refused(twice->path, "two entries of one name");
  }
  return Status();
}

const Entry* Archive::Find(const std::string& path) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), path,
      [](const Entry& entry, const std::string& p) { return entry.path < p; });
  return found == entries_.end() || found->path != path ? nullptr : &*found;
}

Status Archive::Read(const Entry& entry, const Sink& sink) const {
  const std::unique_ptr<zip_file_t, CloseEntry> file(
      zip_fopen_index(archive_.get(), entry.index, 0));
  if (!file) return Refused(entry.path, zip_strerror(archive_.get()));
  uint64_t left = entry.size_untrusted;
  std::vector<char> buffer(size_t{1} << 16);
  while (true) {
    const zip_int64_t got = zip_fread(file.get(), buffer.data(), buffer.size());
    if (got < 0) return Refused(entry.path, zip_file_strerror(file.get()));
    if (got == 0) break;
    if (static_cast<uint64_t>(got) > left) {
      return Refused(entry.path, "it holds more than it says");
    }
    left -= static_cast<uint64_t>(got);
    Status status = sink(std::span(buffer.data(), static_cast<size_t>(got)));
    if (!status.ok()) return status;
  }
  return left == 0 ? Status()
                   : Refused(entry.path, "it holds less than it says");
}

Result<std::string> Archive::ReadText(const std::string& path,
                                      size_t max_bytes) const {
  const Entry* entry = Find(path);
  if (entry == nullptr) return Refused(path, "the wheel does not have it");
  if (entry->size_untrusted > max_bytes) return Refused(path, "too big");
  std::string text;
  Status status = Read(*entry, [&](std::span<const char> bytes) {
    text.append(bytes.data(), bytes.size());
    return Status();
  });
  if (!status.ok()) return status;
  return text;
}

}  // namespace bulkhead::install
