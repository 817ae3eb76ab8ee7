// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/kept_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <md5.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "core/base/status_macros.h"
#include "ipc/unique_fd.h"

namespace bulkhead::cli::conformance {
namespace {

namespace fs = std::filesystem;

constexpr char kMade[] = "made";
constexpr char kStamp[] = "stamp";

Status CannotWrite(const fs::path& path, const std::error_code& error) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("cannot write {}: {}", path.string(), error.message()));
}

std::error_code LastError() { return {errno, std::generic_category()}; }

std::string DigestOf(const std::string& text) {
  char digest[MD5_DIGEST_STRING_LENGTH];
  return MD5Data(reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                 digest);
}

// Returns the text of a stamp: the recipe, and the digest and name of each file
// in `place`.
std::string StampOf(const std::string& recipe, const fs::path& place) {
  std::set<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(place, error)) {
    const std::string name = entry.path().filename();
    char digest[MD5_DIGEST_STRING_LENGTH];
    if (name == kStamp || MD5File(entry.path().c_str(), digest) == nullptr) {
      continue;
    }
    files.insert(fmt::format("{}  {}\n", digest, name));
  }
  return fmt::format("{}\n{}", recipe, fmt::join(files, ""));
}

bool IsWhole(const fs::path& place, const std::string& recipe) {
  std::ifstream file(place / kStamp, std::ios::binary);
  const std::string stamp{std::istreambuf_iterator<char>(file), {}};
  return !stamp.empty() && stamp == StampOf(recipe, place);
}

Status WriteStamp(const fs::path& place, const std::string& recipe) {
  const fs::path path = place / kStamp;
  std::ofstream file(path, std::ios::binary);
  file << StampOf(recipe, place);
  file.close();
  return file ? Status() : CannotWrite(path, LastError());
}

// Locks the directory until the descriptor is closed, which the kernel does if
// this process is killed. Waits while another run holds the lock.
Result<ipc::UniqueFd> Lock(const fs::path& directory) {
  ipc::UniqueFd lock(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock) return CannotWrite(directory, LastError());
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return CannotWrite(directory, LastError());
  }
  return lock;
}

// Makes the files in a new directory with a random name, and renames it to
// `made` when they are complete. The random name matters although the caller
// holds the lock: an ffmpeg process of a killed run may still be writing to the
// directory of that run.
Status MakeAt(const fs::path& made, const std::string& recipe,
              const KeptFiles::Make& make) {
  std::string place = made.parent_path() / "making-XXXXXX";
  if (mkdtemp(place.data()) == nullptr) return CannotWrite(place, LastError());
  RETURN_IF_ERROR(make(place));
  RETURN_IF_ERROR(WriteStamp(place, recipe));
  std::error_code error;
  fs::rename(place, made, error);
  return error ? CannotWrite(made, error) : Status();
}

}  // namespace

Result<std::string> KeptFiles::Get(const std::string& name,
                                   const std::string& recipe,
                                   const Make& make) const {
  const fs::path entry =
      fs::path(directory_) / fmt::format("{}-{}", name, DigestOf(recipe));
  std::error_code error;
  fs::create_directories(entry, error);
  if (error) return CannotWrite(entry, error);
  ASSIGN_OR_RETURN(const ipc::UniqueFd lock, Lock(entry));
  const fs::path made = entry / kMade;
  if (IsWhole(made, recipe)) return made.string();
  // Removes the files of a failed attempt, or files that were changed.
  const auto clear = [&] {
    for (const auto& each : fs::directory_iterator(entry, error)) {
      fs::remove_all(each.path(), error);
    }
  };
  clear();
  const Status status = MakeAt(made, recipe, make);
  if (status.ok()) return made.string();
  clear();
  return status;
}

}  // namespace bulkhead::cli::conformance
