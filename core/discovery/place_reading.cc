// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/place_reading.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseDirectory>;

Diagnostic About(Diagnostic::Severity severity, std::string file,
                 std::string message) {
  return {severity, std::move(file), 0, std::move(message)};
}

bool EndsIgnoringCase(std::string_view name, std::string_view lower_suffix) {
  return name.size() >= lower_suffix.size() &&
         std::equal(lower_suffix.rbegin(), lower_suffix.rend(), name.rbegin(),
                    [](char a, char b) { return a == AsciiLower(b); });
}

bool IsDirectory(int directory_fd, const dirent& entry) {
  // Some file systems do not report types in a listing.
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_DIR;
  struct stat info;
  return fstatat(directory_fd, entry.d_name, &info,
                 AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0 &&
         S_ISDIR(info.st_mode);
}

// Sets `has_rival` of the folders.
void FindRivals(std::vector<ListedFolder>& folders) {
  std::unordered_map<std::string_view, ListedFolder*> first;
  first.reserve(folders.size());
  for (ListedFolder& folder : folders) {
    if (folder.normalized_name.empty()) continue;
    const auto [seen, is_new] =
        first.try_emplace(folder.normalized_name, &folder);
    if (is_new) continue;
    folder.has_rival = true;
    seen->second->has_rival = true;
  }
}

}  // namespace

ipc::UniqueFd OpenPlace(const SearchDirectory& directory, SeenDirectories& seen,
                        struct stat& info, PlaceReading& reading) {
  reading.place.directory = directory;
  ipc::UniqueFd fd(open(directory.path.c_str(),
                        O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
  if (!fd || fstat(fd.get(), &info) != 0) {
    const int error = errno;
    reading.place.outcome =
        error == ENOENT
            ? "does not exist"
            : "cannot be searched: " + std::generic_category().message(error);
    if (error != ENOENT) {
      reading.diagnostics.push_back(About(Diagnostic::Severity::kWarning,
                                          directory.path,
                                          reading.place.outcome));
    }
    return ipc::UniqueFd();
  }
  const auto [first, is_new] =
      seen.try_emplace({info.st_dev, info.st_ino}, directory.path);
  if (!is_new) {
    reading.place.outcome = "the same directory as " + first->second;
    return ipc::UniqueFd();
  }
  reading.place.searched = true;
  return fd;
}

Listing ListFolders(int directory_fd, const std::string& directory) {
  Listing listing;
  ipc::UniqueFd fd(fcntl(directory_fd, F_DUPFD_CLOEXEC, 0));
  const DirectoryStream stream(fd ? fdopendir(fd.get()) : nullptr);
  if (stream) fd.release();
  size_t egg_infos = 0;
  std::string an_egg_info;
  while (stream) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.ends_with(kDistInfoSuffix)) {
      ListedFolder& folder = listing.folders.emplace_back();
      folder.name = name;
      folder.plain = IsDirectory(directory_fd, *entry);
      if (const auto parsed = ParseFolderName(name)) {
        folder.normalized_name = NormalizedName(parsed->name);
      }
    } else if (EndsIgnoringCase(name, kDistInfoSuffix)) {
      listing.diagnostics.push_back(About(
          Diagnostic::Severity::kWarning, directory + "/" + std::string(name),
          "ignored: the name has to end in \".dist-info\", in small "
          "letters"));
    } else if (name.ends_with(".egg-info")) {
      // The example is the first by name, so that the result does not depend on
      // the order of the listing.
      if (egg_infos++ == 0 || name < an_egg_info) an_egg_info = name;
    }
  }
  // errno is 0 if the last entry was reached. Otherwise fcntl(), fdopendir() or
  // readdir() has failed.
  if (errno != 0) {
    listing.diagnostics.push_back(
        About(Diagnostic::Severity::kError, directory,
              "cannot be listed to its end: " +
                  std::generic_category().message(errno)));
  }
  if (egg_infos > 0) {
    listing.diagnostics.push_back(
        About(Diagnostic::Severity::kNote, directory,
              "only .dist-info folders are read; there are " +
                  std::to_string(egg_infos) + " ending in .egg-info, such as " +
                  Quoted(an_egg_info) + ": install those as wheels"));
  }
  std::sort(listing.folders.begin(), listing.folders.end(),
            [](const ListedFolder& a, const ListedFolder& b) {
              return a.name < b.name;
            });
  std::sort(
      listing.diagnostics.begin(), listing.diagnostics.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.file < b.file; });
  FindRivals(listing.folders);
  return listing;
}

FolderReading ReadFolder(int directory_fd, const std::string& directory,
                         const ListedFolder& folder, const std::string& group) {
  FolderReading reading;
  if (folder.name.front() == '~') {
    reading.diagnostics.push_back(
        About(Diagnostic::Severity::kWarning, directory + "/" + folder.name,
              "ignored: a leftover of an interrupted pip; remove it"));
    return reading;
  }
  Result<Distribution> read =
      ReadDistribution(directory_fd, directory, folder.name, folder.plain,
                       reading.diagnostics, group);
  if (!read) {
    reading.diagnostics.push_back(About(Diagnostic::Severity::kError,
                                        directory + "/" + folder.name,
                                        "ignored: " + read.error().message()));
    return reading;
  }
  if (group.empty() || folder.has_rival || !read->entry_points.empty()) {
    reading.metadata_read = true;
    ReadMetadata(directory_fd, folder.plain, *read, reading.diagnostics);
  }
  reading.distribution = *std::move(read);
  return reading;
}

}  // namespace bulkhead::discovery
