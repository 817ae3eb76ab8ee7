// SPDX-License-Identifier: Apache-2.0
#include "tools/install/installation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/bounded_file.h"
#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/package_version.h"
#include "core/discovery/reserved_names.h"
#include "tools/install/directory_lock.h"
#include "tools/install/installed.h"
#include "tools/install/staging.h"
#include "tools/install/transaction.h"
#include "tools/install/tree.h"
#include "tools/install/unpacked.h"
#include "tools/install/wheel.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;
using Versions = std::vector<const Installed::Version*>;

constexpr char kInstaller[] = "bulkhead\n";
constexpr size_t kMaxNamed = 5;  // The most conflicts that an error names.

// Locks the directory and cleans up after an installer that was killed, with a
// note in `diagnostics`.
Result<DirectoryLock> Enter(const std::string& directory,
                            const InstallationOptions& options,
                            Diagnostics& diagnostics) {
  Result<DirectoryLock> lock =
      DirectoryLock::Acquire(directory, options.lock_limit);
  if (!lock) return lock;
  const auto recovered = Transaction::Recover(lock->fd());
  if (!recovered) return recovered.error().WithContext(Quoted(directory));
  if (*recovered) {
    diagnostics.push_back(
        {Diagnostic::Severity::kNote, directory, 0, **recovered});
  }
  return lock;
}

// Writes INSTALLER, and a RECORD that lists all files, into the staging
// directory, and adds both to `staged`.
Status WriteRecord(int staging, Staged& staged) {
  const std::string folder = staged.dist_info + "/";
  Digest digest(HashAlgorithm::kSha256);
  const std::string installer = kInstaller;
  digest.Append(installer);
  staged.files.push_back({folder + "INSTALLER", HashAlgorithm::kSha256,
                          digest.Finish(), installer.size()});
  staged.files.push_back({folder + "RECORD", std::nullopt, "", std::nullopt});
  std::sort(
      staged.files.begin(), staged.files.end(),
      [](const RecordLine& a, const RecordLine& b) { return a.path < b.path; });
  Status status = WriteFile(staging, folder + "INSTALLER", installer, 0644);
  if (!status.ok()) return status;
  return WriteFile(staging, folder + "RECORD", FormatRecord(staged.files),
                   0644);
}

// Returns the distribution as discovery will read it from the staged files.
// Fails if METADATA cannot be used or names another version than the folder.
Result<discovery::Distribution> ReadStaged(int staging,
                                           const std::string& directory,
                                           Staged& staged) {
  Diagnostics said;
  Result<discovery::Distribution> read =
      Describe(staging, directory, staged.dist_info, said);
  if (!read) return read;
  const auto folder = discovery::ParseFolderName(staged.dist_info);
  if (!read->has_metadata) {
    return Status(Code::kBadInput,
                  Quoted(staged.dist_info) + ": METADATA: " +
                      (said.empty() ? "unusable" : said.back().message));
  }
  if (discovery::CompareVersions(folder->version, read->version) != 0) {
    return Status(Code::kBadInput, Quoted(staged.dist_info) +
                                       ": METADATA says it is version " +
                                       Quoted(read->version));
  }
  staged.diagnostics.insert(staged.diagnostics.end(), said.begin(), said.end());
  return read;
}

// Fills `piece` from the current position. Returns the number of bytes; fewer
// than the size of `piece` mean the end of the file or an error.
size_t ReadPiece(int fd, std::span<char> piece) {
  size_t filled = 0;
  while (filled < piece.size()) {
    const ssize_t got = read(fd, &piece[filled], piece.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  return filled;
}

// Returns true if the installed file is a regular file with the contents and
// the mode of the staged file.
bool IsSame(int directory, int staging, const std::string& path) {
  if (KindAt(directory, path) != Kind::kFile) return false;
  const auto installed = OpenRegularFileBeneath(directory, path);
  const auto staged = OpenRegularFileBeneath(staging, path);
  struct stat a, b;
  if (!installed || !staged || fstat(installed->get(), &a) != 0 ||
      fstat(staged->get(), &b) != 0 || a.st_size != b.st_size ||
      (a.st_mode & 07777) != (b.st_mode & 07777)) {
    return false;
  }
  std::vector<char> one(size_t{1} << 16), other(one.size());
  for (off_t at = 0; at < a.st_size;) {
    const size_t got = ReadPiece(installed->get(), one);
    if (got == 0 || got != ReadPiece(staged->get(), other) ||
        !std::equal(one.begin(), one.begin() + got, other.begin())) {
      return false;
    }
    at += static_cast<off_t>(got);
  }
  return true;
}

// Returns the files of `versions` that exist and that no other distribution
// owns as well.
std::set<std::string> FilesOf(const Installed& installed,
                              const Versions& versions, int directory,
                              Diagnostics& diagnostics) {
  std::set<std::string> files;
  for (const Installed::Version* version : versions) {
    diagnostics.insert(diagnostics.end(), version->diagnostics.begin(),
                       version->diagnostics.end());
    for (const std::string& file : version->files) {
      const auto owner =
          installed.OwnerOtherThan(version->distribution.normalized_name, file);
      const std::optional<Kind> kind = KindAt(directory, file);
      if (!owner && kind && kind != Kind::kFolder) files.insert(file);
      if (owner) {
        diagnostics.push_back(
            {Diagnostic::Severity::kWarning,
             version->distribution.dist_info_path() + "/RECORD", 0,
             "left alone: " + Quoted(file) + " is also " + *owner + "'s"});
      }
    }
  }
  return files;
}

// Returns the file or folder that prevents the installation of `path`, with its
// owner, or nullopt if there is none. `name` is the normalized name of the
// distribution, `ours` are the files that the transaction removes. Adds the
// missing parents of `path` to `create`.
std::optional<std::string> Conflict(const Installed& installed,
                                    const std::string& name, int directory,
                                    const std::set<std::string>& ours,
                                    const std::string& path,
                                    std::set<std::string>& create) {
  const auto taken = [&](const std::string& place) {
    const auto owner = installed.OwnerOtherThan(name, place);
    return Quoted(place) + " (" +
           (owner ? *owner + "'s" : "of no distribution") + ")";
  };
  std::vector<std::string> missing;
  for (std::string folder = ParentOf(path); !folder.empty();
       folder = ParentOf(folder)) {
    const std::optional<Kind> kind = KindAt(directory, folder);
    if (!kind || ours.contains(folder)) {
      missing.push_back(folder);
    } else if (kind != Kind::kFolder) {
      return taken(folder);
    }
  }
  create.insert(missing.begin(), missing.end());
  const std::optional<Kind> kind = KindAt(directory, path);
  if (!kind || ours.contains(path)) return std::nullopt;
  // A file may replace a folder that holds files of `ours`: the transaction
  // removes the folder with its last file. If the folder also holds other
  // files, it stays; then the move fails, and the transaction is undone.
  const auto below = ours.lower_bound(path + "/");
  const bool goes = kind == Kind::kFolder && below != ours.end() &&
                    below->starts_with(path + "/");
  return goes ? std::nullopt : std::optional(taken(path));
}

// Returns the error for a distribution without a RECORD, with the paths to
// remove by hand.
Status RefuseUnknownFiles(const discovery::Distribution& distribution) {
  std::string text =
      distribution.name + " " + distribution.version +
      " has no RECORD, so nobody knows which files are its own. Remove by "
      "hand: " +
      distribution.dist_info_path();
  std::set<std::string> folders;
  for (const EntryPoint& entry : distribution.entry_points) {
    folders.insert(entry.module.substr(0, entry.module.find('.')));
  }
  for (const std::string& folder : folders) {
    text += ", " + distribution.directory + "/" + folder;
  }
  return Status(Code::kInvalidArgument, text);
}

// Returns the moves that replace the versions `previous` by the staged
// distribution. Files that are equal in both stay where they are.
Result<Plan> PlanFor(const Installed& installed, const Versions& previous,
                     const discovery::Distribution& distribution, int directory,
                     int staging, Staged& staged) {
  Plan plan;
  for (const Installed::Version* version : previous) {
    if (!version->has_record) return RefuseUnknownFiles(version->distribution);
    plan.hide.push_back(version->distribution.dist_info);
  }
  plan.show = distribution.dist_info;
  const bool replaces = std::find(plan.hide.begin(), plan.hide.end(),
                                  plan.show) != plan.hide.end();
  if (!replaces && KindAt(directory, plan.show)) {
    return Status(Code::kInvalidArgument,
                  Quoted(plan.show) + " is there and is not " +
                      distribution.name + "'s: remove it first");
  }
  const std::set<std::string> ours =
      FilesOf(installed, previous, directory, staged.diagnostics);
  std::set<std::string> stays, create;
  std::string conflicts;
  size_t conflicting = 0;
  for (const RecordLine& line : staged.files) {
    if (line.path.starts_with(plan.show + "/")) continue;
    const auto conflict = Conflict(installed, distribution.normalized_name,
                                   directory, ours, line.path, create);
    if (conflict) {
      if (conflicting++ < kMaxNamed) conflicts += " " + *conflict;
    } else if (ours.contains(line.path) &&
               IsSame(directory, staging, line.path)) {
      stays.insert(line.path);
    } else {
      plan.in.push_back(line.path);
    }
  }
  if (conflicting > 0) {
    return Status(Code::kInvalidArgument,
                  distribution.name + " " + distribution.version +
                      " would overwrite " + std::to_string(conflicting) +
                      (conflicting == 1 ? " file" : " files") +
                      " that it does not own:" + conflicts +
                      ". Remove them or use another directory");
  }
  std::set_difference(ours.begin(), ours.end(), stays.begin(), stays.end(),
                      std::back_inserter(plan.out));
  // Byte order puts a folder before its contents.
  plan.create.assign(create.begin(), create.end());
  return plan;
}

// Returns true if the plan would change nothing: it replaces one version by the
// same files.
bool IsIdle(const Plan& plan, int directory, int staging,
            const Staged& staged) {
  if (!plan.in.empty() || !plan.out.empty() || plan.hide.size() != 1 ||
      plan.hide.front() != plan.show) {
    return false;
  }
  return std::all_of(staged.files.begin(), staged.files.end(),
                     [&](const RecordLine& line) {
                       return !line.path.starts_with(plan.show + "/") ||
                              IsSame(directory, staging, line.path);
                     });
}

// Installs `source` into the locked directory.
Result<Installation> InstallInto(const DirectoryLock& lock,
                                 const std::string& source,
                                 const std::string& directory) {
  Result<Transaction> transaction = Transaction::Begin(lock.fd());
  if (!transaction) return transaction.error().WithContext(Quoted(directory));
  const int staging = transaction->staging();
  std::error_code ignored;
  Result<Staged> staged = fs::is_directory(source, ignored)
                              ? StageUnpacked(source, staging)
                              : StageWheel(source, staging);
  if (!staged) return staged.error();
  if (Status status = WriteRecord(staging, *staged); !status.ok()) {
    return status;
  }
  Result<discovery::Distribution> distribution =
      ReadStaged(staging, directory, *staged);
  if (!distribution) return distribution.error().WithContext(Quoted(source));

  const Installed installed = Installed::Read(lock.fd(), directory);
  const Versions previous = installed.Named(distribution->normalized_name);
  const Result<Plan> plan =
      PlanFor(installed, previous, *distribution, lock.fd(), staging, *staged);
  if (!plan) return plan.error();
  Installation done;
  done.name = distribution->name;
  done.version = distribution->version;
  if (!previous.empty()) {
    done.previous_version = previous.front()->distribution.version;
  }
  done.directory = directory;
  done.dist_info = distribution->dist_info_path();
  done.files = staged->files.size();
  done.entry_points = EntryPoints(std::move(distribution->entry_points));
  done.diagnostics = std::move(staged->diagnostics);
  for (const EntryPoint& entry : done.entry_points.Select(
           {.group = std::string(discovery::kBackendGroup)})) {
    if (!discovery::IsReservedBackend(entry.name)) continue;
    done.diagnostics.push_back(
        {Diagnostic::Severity::kWarning, done.dist_info + "/entry_points.txt",
         entry.line,
         "the backend will not be used: " +
             discovery::NameIsReserved(entry.name) +
             "; `bulkhead backends` says what an operator writes who wants "
             "it in place of Bulkhead's own"});
  }
  done.unchanged = IsIdle(*plan, lock.fd(), staging, *staged);
  if (done.unchanged) return done;
  Status status = transaction->Execute(*plan);
  if (!status.ok()) return status.WithContext(Quoted(directory));
  return done;
}

}  // namespace

Result<Installation> Install(const std::string& source,
                             const std::string& directory,
                             const InstallationOptions& options) {
  std::error_code error;
  if (!fs::exists(source, error)) {
    return Status(Code::kNotFound,
                  "there is no file or directory " + Quoted(source));
  }
  const bool created = fs::create_directories(directory, error);
  if (error) {
    return FromErrno("cannot make " + Quoted(directory), error.value());
  }
  Diagnostics diagnostics;
  Result<Installation> done = [&]() -> Result<Installation> {
    const Result<DirectoryLock> lock = Enter(directory, options, diagnostics);
    if (!lock) return lock.error();
    return InstallInto(*lock, source, directory);
  }();
  if (!done) {
    // Fails if the directory is not empty. The destructor of the lock has
    // already removed the lock file.
    if (created) fs::remove(directory, error);
    return done;
  }
  done->diagnostics.insert(done->diagnostics.begin(), diagnostics.begin(),
                           diagnostics.end());
  return done;
}

Result<Removal> Uninstall(const std::string& name, const std::string& directory,
                          const InstallationOptions& options) {
  Removal done;
  const Result<DirectoryLock> lock =
      Enter(directory, options, done.diagnostics);
  if (!lock && lock.error().code() == Code::kNotFound) {
    return Status(Code::kNotFound, Quoted(name) + " is not installed: there " +
                                       "is no directory " + Quoted(directory));
  }
  if (!lock) return lock.error();
  const Installed installed = Installed::Read(lock->fd(), directory);
  const Versions versions = installed.Named(NormalizedName(name));
  if (versions.empty()) {
    std::string there;
    for (const std::string& other : installed.Names()) there += " " + other;
    return Status(Code::kNotFound,
                  Quoted(name) + " is not installed in " + Quoted(directory) +
                      (there.empty() ? ": nothing is" : "; there is" + there));
  }
  Plan plan;
  for (const Installed::Version* version : versions) {
    if (!version->has_record) return RefuseUnknownFiles(version->distribution);
    plan.hide.push_back(version->distribution.dist_info);
  }
  const std::set<std::string> files =
      FilesOf(installed, versions, lock->fd(), done.diagnostics);
  plan.out.assign(files.begin(), files.end());
  done.name = versions.front()->distribution.name;
  done.version = versions.front()->distribution.version;
  done.directory = directory;
  done.files = files.size();

  Result<Transaction> transaction = Transaction::Begin(lock->fd());
  if (!transaction) return transaction.error().WithContext(Quoted(directory));
  Status status = transaction->Execute(plan);
  if (!status.ok()) return status.WithContext(Quoted(directory));
  for (const std::string& file : files) {
    // Reports the first folder that is left.
    const std::string folder = ParentOf(file);
    if (!folder.empty() && KindAt(lock->fd(), folder)) {
      done.diagnostics.push_back(
          {Diagnostic::Severity::kNote, directory + "/" + folder, 0,
           "left: it holds files that RECORD does not list"});
      break;
    }
  }
  return done;
}

}  // namespace bulkhead::install
