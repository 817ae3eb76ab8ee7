// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// The moves of a transaction, in the order of execution. Paths are relative to
// the plugin directory.
struct Plan {
  std::vector<std::string> hide;    // Dist-info folders to move out.
  std::vector<std::string> out;     // Files to move out.
  std::vector<std::string> create;  // Folders for `in`, outermost first.
  std::vector<std::string> in;      // Files to move in.
  std::string show;                 // The dist-info folder to move in, if any.

  bool operator==(const Plan&) const = default;
};

// Changes a plugin directory so that discovery never finds a half-installed
// distribution, whenever the installer is killed or the machine loses power.
//
// Discovery finds a distribution by its dist-info folder, and ignores files
// that no such folder names. So the old dist-info folder is moved out first and
// the new one is moved in last, each with one rename. During an upgrade, the
// old version is hidden while files are exchanged: between these two renames
// discovery finds neither version. (The installer leaves files that are equal
// in both versions out of the plan.)
//
// Everything is prepared in DIRECTORY/.bulkhead-transaction, which is on the
// same file system:
//
//   new/      files to move in, verified before anything else is touched
//   old/      files that were moved out
//   journal   the plan; exists from the moment at which `new` is complete and
//             on disk until the transaction is done
//
// After a crash, the folder in which a file lies (`new`, `old` or the plugin
// directory) says whether the file was moved. So the journal and the files are
// enough for Recover(), which the next installer calls first. Recover()
// completes a removal, and also an installation whose new dist-info folder was
// moved in. It undoes any other installation. Recover() itself may be killed
// and repeated.
//
//   killed                    | state of the directory      | Recover()
//   before the journal exists | unchanged                   | removes `new`
//   installing, before `show` | old version maybe hidden    | moves files back
//   installing, after `show`  | new version                 | cleans up
//   uninstalling              | unchanged or hidden         | completes
//
// `directory` is a descriptor of the plugin directory, which the caller owns.
// The caller must hold the directory's lock (directory_lock.h), since nothing
// else keeps other installers out. Not thread-safe.
class Transaction {
 public:
  // Begins a transaction. Returns kInvalidArgument if the directory has an
  // unfinished transaction, for which Recover() was not called.
  static Result<Transaction> Begin(int directory);
  Transaction(Transaction&&) = default;
  // Removes the staged files, unless Execute() has begun.
  ~Transaction();

  // The descriptor of the directory `new`, into which the caller writes the
  // files to move in.
  int staging() const { return new_.get(); }

  // Carries out the plan and removes the transaction's files. If a step fails,
  // moves everything back and returns the failure.
  Status Execute(const Plan& plan);

  // Cleans up after an installer that was killed. Returns a sentence about what
  // was done, or nullopt if there was nothing to do.
  static Result<std::optional<std::string>> Recover(int directory);

 private:
  // Opens the folders of a transaction. Creates those that are missing.
  static Result<Transaction> Open(int directory);
  Transaction(int directory, ipc::UniqueFd own, ipc::UniqueFd incoming,
              ipc::UniqueFd outgoing);

  // Makes the moves of the plan that were not made yet.
  Status Apply(const Plan& plan) const;
  // Undoes the moves of the plan that were made.
  Status PutBack(const Plan& plan) const;
  // Removes the journal and then all other files of the transaction.
  Status Finish() const;

  int directory_;
  ipc::UniqueFd own_;  // The folder .bulkhead-transaction.
  ipc::UniqueFd new_;
  ipc::UniqueFd old_;
  bool journaled_ = false;  // The journal was written.
};

}  // namespace bulkhead::install
