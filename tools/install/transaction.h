// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// The moves of a transaction, in the order in which they are done. Paths are
// relative to the plugin directory.
struct Plan {
  std::vector<std::string> hide;    // Dist-info folders to move away.
  std::vector<std::string> out;     // Files to move away.
  std::vector<std::string> create;  // Folders to create, outermost first.
  std::vector<std::string> in;      // Files to move in.
  std::string show;                 // The dist-info folder to move in, if any.

  bool operator==(const Plan&) const = default;
};

// Changes a plugin directory so that discovery never finds a half-installed
// distribution, whenever the installer is killed or the machine loses power.
//
// Discovery finds a distribution by its dist-info folder. So that folder is the
// last item to be moved in and the first to be moved away, each with one
// rename, and discovery ignores the files in between. An upgrade hides the old
// version while files are exchanged: for the time of some renames neither
// version is found. (Files that are equal in both versions are not touched, see
// installation.h.)
//
// Everything is prepared in DIRECTORY/.bulkhead-transaction, which is on the
// same file system:
//
//   new/      files to move in, verified before anything else is touched
//   old/      files that were moved away
//   journal   the plan; exists from the moment `new` is complete and on disk
//             until the transaction is done
//
// The place of a file says whether it was moved, so that plan and files are all
// that the next installer needs. It begins with Recover(), which completes a
// removal or a transaction that had shown its new dist-info folder, and undoes
// any other. Recover() may be killed too.
//
//   killed                    | state of the directory      | Recover()
//   before the journal exists | unchanged                   | removes `new`
//   installing, before `show` | old version maybe hidden    | moves files back
//   installing, after `show`  | new version                 | cleans up
//   uninstalling              | unchanged or hidden         | completes
//
// `directory` is borrowed. The caller must hold its lock (directory_lock.h),
// the only protection against other processes that change it. Not thread-safe.
class Transaction {
 public:
  // Begins a transaction. Returns kInvalidArgument if there is one already,
  // that is, if Recover() was not called.
  static Result<Transaction> Begin(int directory);
  Transaction(Transaction&&) = default;
  // Removes the staged files, unless Execute() has begun.
  ~Transaction();

  // The directory `new`, into which the caller writes the files to move in.
  int staging() const { return new_.get(); }

  // Carries out the plan and cleans up. If a step fails, moves everything back
  // and returns the failure.
  Status Execute(const Plan& plan);

  // Cleans up after an installer that was killed. Returns a sentence about what
  // was done, or nullopt if there was nothing to do.
  static Result<std::optional<std::string>> Recover(int directory);

 private:
  // Opens the folders of a transaction. Creates those that are missing.
  static Result<Transaction> Open(int directory);
  Transaction(int directory, ipc::UniqueFd own, ipc::UniqueFd incoming,
              ipc::UniqueFd outgoing);

  Status Apply(const Plan& plan) const;
  Status PutBack(const Plan& plan) const;
  Status Finish() const;

  int directory_;
  ipc::UniqueFd own_;
  ipc::UniqueFd new_;
  ipc::UniqueFd old_;
  bool journaled_ = false;
};

}  // namespace bulkhead::install
