// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/entry_point.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// Installs distributions into a plugin directory and removes them, without a
// package manager and without running any of their code.
//
//   auto done = Install("acme-1.0-py3-none-linux_x86_64.whl", directory);
//   if (!done) return Report(done.error());
//   ...
//   auto gone = Uninstall("acme", directory);
//
// If the process is killed at any moment, discovery finds either a complete
// distribution, whose files all have their hashes in RECORD, or none. The next
// call on the directory then cleans up (transaction.h). A call that fails
// changes nothing. Calls on one directory, from all processes, take turns.
//
// The RECORDs in the directory say which distribution owns a file. Files of
// other distributions, and files without an owner, are neither overwritten nor
// removed.
//
// A RECORD proves that a wheel is intact, not who made it. Links in the plugin
// directory are not followed.

// Options of Install() and Uninstall().
struct InstallationOptions {
  // The longest wait for another installer to finish.
  std::chrono::milliseconds lock_limit{10'000};
};

// The outcome of Install().
struct Installation {
  std::string name;
  std::string version;
  // The version that was replaced, if any; may equal `version`.
  std::optional<std::string> previous_version;
  // The same files were installed already, so nothing was changed.
  bool unchanged = false;
  std::string directory;
  std::string dist_info;  // The path of the dist-info folder.
  size_t files = 0;       // The number of installed files.
  EntryPoints entry_points;
  Diagnostics diagnostics;
};

// Installs `source`, a wheel (wheel.h) or an unpacked distribution
// (unpacked.h), into `directory`, which is created if it does not exist.
// Replaces all installed versions of the distribution, so that upgrade,
// downgrade and repair are the same operation. Adds the file INSTALLER. Folders
// get mode 0755, files 0644 or 0755.
Result<Installation> Install(const std::string& source,
                             const std::string& directory,
                             const InstallationOptions& options = {});

// The outcome of Uninstall().
struct Removal {
  std::string name;
  std::string version;
  std::string directory;
  size_t files = 0;         // The number of removed files outside of dist-info.
  Diagnostics diagnostics;  // Files that were not removed, with the reason.
};

// Removes every version of the distribution `name`, in any spelling: the
// dist-info folder, the files of RECORD, and folders that become empty.
// Returns kNotFound if there is no such distribution; the message lists the
// installed names. Returns kInvalidArgument if it has no RECORD; the message
// names the folders to remove by hand.
Result<Removal> Uninstall(const std::string& name, const std::string& directory,
                          const InstallationOptions& options = {});

}  // namespace bulkhead::install
