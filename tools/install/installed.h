// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// What discovery makes of one dist-info folder, METADATA included.
Result<discovery::Distribution> Describe(int directory_fd,
                                         const std::string& directory,
                                         const std::string& dist_info,
                                         Diagnostics& diagnostics);

// The distributions in one plugin directory and which file is whose, as their
// RECORDs say. Those that discovery would not use, an older version beside a
// newer one for instance, count too. A snapshot; a value.
class Installed {
 public:
  struct Version {
    discovery::Distribution distribution;
    bool has_record = false;
    std::vector<std::string> files;  // Outside of any dist-info folder.
    Diagnostics diagnostics;         // Of RECORD lines that are not followed.
  };

  // Never fails because of what lies in the directory.
  static Installed Read(int directory_fd, const std::string& directory);

  // Of this name, the highest version first. `normalized_name` as
  // NormalizedName returns it.
  std::vector<const Version*> Named(const std::string& normalized_name) const;
  // The names there are, as their METADATA spells them.
  std::vector<std::string> Names() const;
  // Whose `path` is, other than that distribution's: "acme 1.0".
  std::optional<std::string> OwnerOtherThan(const std::string& normalized_name,
                                            const std::string& path) const;

 private:
  std::vector<Version> versions_;
  std::multimap<std::string, size_t> owners_;  // By path; index of the version.
};

}  // namespace bulkhead::install
