// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/directory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/record.h"
#include "core/base/bounded_file.h"
#include "ipc/unique_fd.h"

namespace bulkhead::batch {
namespace {

namespace fs = std::filesystem;

constexpr char kUnfinished[] = ".batch/unfinished";
constexpr char kManifest[] = ".batch/manifest";
constexpr char kJoined[] = "manifest.jsonl";
// The age at which a private folder is removed if it is not known whether its
// owner lives.
constexpr std::chrono::hours kForgotten{7 * 24};
// The number of tries to publish a directory that other processes publish too.
constexpr int kMostRenames = 100;
// Bounds the memory for a file that another user has written.
constexpr size_t kMostRecordBytes = size_t{16} << 20;

Status Failed(const char* what, const std::string& path, int error) {
  return Status(Code::kInvalidArgument,
                std::string("cannot ") + what + " " + path + ": " +
                    std::generic_category().message(error));
}

std::optional<std::string> Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return std::nullopt;
  return text;
}

// Returns the start time of a process, in the kernel's clock ticks; "" if there
// is no such process or the time is not readable.
std::string StartOf(const std::string& pid) {
  const std::string stat = Contents("/proc/" + pid + "/stat").value_or("");
  // Skips the first two fields: the second, the name of the program in
  // parentheses, may itself contain spaces and parentheses.
  std::istringstream fields(
      stat.substr(std::min(stat.rfind(')'), stat.size())));
  // The start time is the 22nd field; the parenthesis ends the second.
  constexpr int kStartTime = 22;
  std::string field;
  for (int i = 2; i <= kStartTime; ++i) fields >> field;
  return fields ? field : std::string();
}

// Returns a name for the boot and the pid namespace of this process. The host
// name is not enough, since two containers may have the same.
std::string PidSpace() {
  std::error_code ignored;
  const std::string boot =
      Contents("/proc/sys/kernel/random/boot_id").value_or("");
  return Sha256Of(boot +
                  fs::read_symlink("/proc/self/ns/pid", ignored).string())
      .substr(0, 12);
}

// Returns the name of a new owner in this process. The number tells Directory
// objects of one process apart.
std::string NewOwner() {
  static std::atomic<uint64_t> number = 0;
  char host[256] = "";
  (void)gethostname(host, sizeof(host) - 1);
  const std::string pid = std::to_string(getpid());
  return std::string(host) + "-" + std::to_string(number++) + "." + PidSpace() +
         "." + pid + "." + StartOf(pid);
}

// Returns whether the process of `owner` is alive; nullopt if that
// cannot be seen: the owner is of another boot or pid namespace, or /proc hides
// the process.
std::optional<bool> IsAlive(const std::string& owner) {
  std::vector<std::string> words;
  std::istringstream text(owner);
  for (std::string word; std::getline(text, word, '.');) words.push_back(word);
  if (words.size() < 4) return std::nullopt;
  const std::string& start = words[words.size() - 1];
  const std::string& pid = words[words.size() - 2];
  if (words[words.size() - 3] != PidSpace()) return std::nullopt;
  const long number = std::strtol(pid.c_str(), nullptr, 10);
  if (number <= 0) return std::nullopt;
  if (kill(static_cast<pid_t>(number), 0) != 0 && errno == ESRCH) return false;
  const std::string now = StartOf(pid);
  if (now.empty()) return std::nullopt;
  return now == start;
}

Status Sync(const std::string& path) {
  const ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Failed("open", path, errno);
  // Some file systems cannot sync a directory.
  if (fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return Failed("write to", path, errno);
  }
  return Status();
}

Status SyncAll(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (Status status = Sync(entry->path()); !status.ok()) return status;
    }
  }
  if (error) return Failed("read", path, error.value());
  return Sync(path);
}

Status MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Failed("create the directory", path, error.value());
  return Status();
}

}  // namespace

Result<std::unique_ptr<Directory>> Directory::Open(const std::string& path) {
  std::unique_ptr<Directory> directory(new Directory(path, NewOwner()));
  for (const std::string& made :
       {directory->Unfinished(""), directory->At(kManifest),
        directory->At(".batch/poison")}) {
    if (Status status = MakeDirectories(made); !status.ok()) return status;
  }
  directory->RemoveLeftovers();
  return directory;
}

Directory::~Directory() {
  std::error_code ignored;
  fs::remove_all(At(kUnfinished) + "/" + owner_, ignored);
}

std::string Directory::At(const std::string& relative) const {
  return (fs::path(path_) / relative).string();
}

std::string Directory::Unfinished(const std::string& name) const {
  return (fs::path(path_) / kUnfinished / owner_ / name).string();
}

void Directory::RemoveLeftovers() const {
  // Another process may remove an entry at the same time. This is no error.
  std::error_code ignored;
  for (fs::directory_iterator entry(At(kUnfinished), ignored), end;
       !ignored && entry != end; entry.increment(ignored)) {
    std::error_code error;
    const auto written = fs::last_write_time(entry->path(), error);
    const bool old =
        !error && fs::file_time_type::clock::now() - written > kForgotten;
    // If it is unknown whether the owner lives, the age of the folder decides.
    if (!IsAlive(entry->path().filename()).value_or(!old)) {
      fs::remove_all(entry->path(), error);
    }
  }
}

Status Directory::Publish(const std::string& name,
                          const std::string& relative) const {
  const std::string from = Unfinished(name);
  const std::string to = At(relative);
  if (Status status = SyncAll(from); !status.ok()) return status;
  const std::string parent = fs::path(to).parent_path();
  if (Status status = MakeDirectories(parent); !status.ok()) return status;
  const std::string old = Unfinished(name + ".old");
  std::error_code error;
  for (int i = 0; i < kMostRenames; ++i) {
    // rename() does not replace a directory that has files, so an old output is
    // moved away first.
    if (fs::is_directory(to, error)) {
      fs::rename(to, old, error);
      // Another process may have moved it away first.
      if (error && error != std::errc::no_such_file_or_directory) {
        return Failed("replace", to, error.value());
      }
    }
    fs::rename(from, to, error);
    std::error_code ignored;
    fs::remove_all(old, ignored);
    if (!error) return Sync(parent);
    // Another process has published a directory between the two renames.
    if (error != std::errc::directory_not_empty &&
        error != std::errc::file_exists) {
      return Failed("create", to, error.value());
    }
  }
  return Status(Code::kInvalidArgument,
                "cannot create " + to +
                    ": other processes publish it again and again; decode a "
                    "file by one process at a time");
}

Status Directory::Write(const std::string& name, const std::string& relative,
                        const std::string& text) const {
  const std::string path = Unfinished(name);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const ipc::UniqueFd file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return Failed("create", path, errno);
  for (std::string_view left = text; !left.empty();) {
    const ssize_t written = write(file.get(), left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write to", path, errno);
    left.remove_prefix(static_cast<size_t>(written));
  }
  return Publish(name, relative);
}

Result<bool> Directory::WriteNew(const std::string& name,
                                 const std::string& relative,
                                 const std::string& text) const {
  // Writes a complete file in the private folder, and then links it to its
  // final name. A link, unlike a rename, fails if the name exists.
  if (Status status = Write(
          name, std::string(kUnfinished) + "/" + owner_ + "/" + name + ".new",
          text);
      !status.ok()) {
    return status;
  }
  const std::string written = Unfinished(name + ".new");
  const std::string to = At(relative);
  std::error_code error;
  fs::create_hard_link(written, to, error);
  if (error == std::errc::file_exists) return false;
  // On a file system without hard links, two processes that do this at the same
  // time may both return true.
  if (error) fs::rename(written, to, error);
  if (error) return Failed("create", to, error.value());
  return true;
}

std::optional<std::string> Directory::Read(const std::string& relative) const {
  const ipc::UniqueFd directory(
      open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  auto text = ReadFileBeneath(directory.get(), relative, kMostRecordBytes);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

ipc::UniqueFd Directory::OpenLock() const {
  const std::string path = At(".batch/lock");
  ipc::UniqueFd lock(
      open(path.c_str(),
           O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0200));
  struct stat directory = {};
  if (lock && stat(At(".batch").c_str(), &directory) == 0) {
    // A user who can open the lock can hold it. So only users who can write the
    // outputs get the right to open it. fchmod() fails if another user has
    // created the file; that user has set its mode.
    (void)fchmod(lock.get(), 0200 | (directory.st_mode & (S_IWGRP | S_IWOTH)));
  }
  return lock;
}

bool Directory::Has(const std::string& relative) const {
  std::error_code ignored;
  return fs::exists(At(relative), ignored);
}

std::optional<uint64_t> Directory::SizeOf(const std::string& relative) const {
  std::error_code error;
  const fs::path path = At(relative);
  if (!fs::is_directory(path, error)) {
    const uint64_t bytes = fs::file_size(path, error);
    return error ? std::nullopt : std::optional(bytes);
  }
  uint64_t bytes = 0;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    bytes += entry->file_size(error);
  }
  return error ? std::nullopt : std::optional(bytes);
}

void Directory::Remove(const std::string& relative) const {
  std::error_code ignored;
  fs::remove_all(At(relative), ignored);
}

Status Directory::Join() const {
  const ipc::UniqueFd lock = OpenLock();
  if (!lock) return Failed("create", At(".batch/lock"), errno);
  while (flock(lock.get(), LOCK_EX) != 0) {
    // Goes on without a lock if the file system has none. The manifest is
    // still a complete file, but a process that has read fewer records may
    // replace it.
    if (errno != EINTR) break;
  }
  std::vector<std::pair<std::string, std::string>> lines;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(At(kManifest), error), end;
       !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string line_untrusted =
        Read(entry->path().lexically_relative(path_)).value_or("");
    const auto record = ParseRecord(line_untrusted);
    if (!record) continue;
    lines.emplace_back(record->at("input").get<std::string>(), LineOf(*record));
  }
  if (error) return Failed("read", At(kManifest), error.value());
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& [input, line] : lines) text += line;
  return Write(kJoined, kJoined, text);
}

}  // namespace bulkhead::batch
