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

// Puts distributions into a plugin directory and takes them out again, without
// running anything of them and without a package manager.
//
//   auto done = Install("acme-1.0-py3-none-linux_x86_64.whl", directory);
//   if (!done) return Report(done.error());
//   ...
//   auto gone = Uninstall("acme", directory);
//
// Either all of a distribution is there, each file with the hash of its RECORD,
// or none of it is discovered, whenever the process is killed; the next call
// on the directory cleans up (transaction.h). A call that fails has changed
// nothing. Two calls on one directory, from whatever process, take turns.
//
// What belongs to whom is what the RECORDs in the directory say. Nothing is
// overwritten that is another distribution's or nobody's, and nothing is
// removed that is.
//
// Files are trusted as far as their RECORD goes: it proves that a wheel is
// intact, not who made it. Links in the plugin directory are not followed.

// What a call may be told.
struct InstallationOptions {
  // How long to wait for another installer.
  std::chrono::milliseconds lock_limit{10'000};
};

struct Installation {
  std::string name;
  std::string version;
  // That was there before, if one was; may be the same.
  std::optional<std::string> previous_version;
  // The very same files were there already; nothing was touched.
  bool unchanged = false;
  std::string directory;
  std::string dist_info;
  size_t files = 0;
  EntryPoints entry_points;
  Diagnostics diagnostics;
};

// Installs `source`, a wheel (wheel.h) or an unpacked distribution
// (unpacked.h), into `directory`, which is made if it does not exist. All
// versions of the distribution that are there are replaced: upgrade, downgrade
// and repair are the same. Adds INSTALLER. The folders of files become 0755,
// files 0644 or 0755.
Result<Installation> Install(const std::string& source,
                             const std::string& directory,
                             const InstallationOptions& options = {});

struct Removal {
  std::string name;
  std::string version;
  std::string directory;
  size_t files = 0;
  Diagnostics diagnostics;  // What was left, and why.
};

// Removes every version of the distribution `name`, in any spelling: the
// dist-info folder, the files of RECORD, and the folders that are then empty.
// kNotFound lists what there is; kInvalidArgument says what to remove by hand
// where there is no RECORD.
Result<Removal> Uninstall(const std::string& name, const std::string& directory,
                          const InstallationOptions& options = {});

}  // namespace bulkhead::install
