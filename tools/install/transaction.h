// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::install {

// What is to be moved where. Paths are relative to the plugin directory.
struct Plan {
  std::vector<std::string> hide;    // Dist-info folders that go, first of all.
  std::vector<std::string> out;     // Files that go.
  std::vector<std::string> create;  // Folders that come, outermost first.
  std::vector<std::string> in;      // Files that come.
  std::string show;  // The dist-info folder that comes, last of all; or empty.

  bool operator==(const Plan&) const = default;
};

// Changes a plugin directory so that whoever kills the installer, or pulls the
// plug, at any moment leaves nothing that is half there and discovered.
//
// A distribution is discovered by its dist-info folder. So that folder is the
// last thing to come and the first to go, each with one rename; what is in
// between is seen by nobody. An upgrade hides the old version while files are
// exchanged: for that moment, some renames long, there is neither. (Files that
// are the same in both versions are not touched, see installation.h.)
//
// Everything is prepared in DIRECTORY/.bulkhead-transaction, so on the same
// file system:
//
//   new/      what comes, verified, before anything else is touched
//   old/      what went
//   journal   the plan; there from when `new` is complete and on disk until
//             all is done
//
// Where a file lies says whether it was moved, so the plan and the files are
// all that a successor needs: Recover, which each begins with, undoes a
// transaction that had not shown its new dist-info, and finishes any other. It
// may be killed too.
//
//   killed              | plugin directory            | Recover
//   before the journal  | as it was                   | throws away
//   then, installing    | old hidden or not, not new  | puts back
//   after `show`        | new                         | throws away
//   uninstalling        | as it was, or hidden        | goes on
//
// `directory` is borrowed and locked by the caller (directory_lock.h), which is
// all there is against others that change it. Not thread-safe.
class Transaction {
 public:
  // kInvalidArgument if there is one already: Recover was not called.
  static Result<Transaction> Begin(int directory);
  Transaction(Transaction&&) = default;
  // Throws away what was staged, unless Execute has begun.
  ~Transaction();

  // Where to put what comes.
  int staging() const { return new_.get(); }

  // Carries out the plan and cleans up; if something fails midway, puts
  // everything back first.
  Status Execute(const Plan& plan);

  // Cleans up after an installer that was killed. Returns what was done, in
  // words, if there was anything to do.
  static Result<std::optional<std::string>> Recover(int directory);

 private:
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
