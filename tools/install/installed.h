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

// Reads the dist-info folder `dist_info` in the directory `directory_fd` as
// discovery does. Returns the distribution, with the name and version from
// METADATA. `directory` is the path of the directory, for messages.
Result<discovery::Distribution> Describe(int directory_fd,
                                         const std::string& directory,
                                         const std::string& dist_info,
                                         Diagnostics& diagnostics);

// The distributions in one plugin directory, and the owner of each file
// according to their RECORDs. Includes distributions that discovery would not
// use, such as an older version beside a newer one. A snapshot of the
// directory, which can be copied.
class Installed {
 public:
  struct Version {
    discovery::Distribution distribution;
    bool has_record = false;
    std::vector<std::string> files;  // The files outside of dist-info folders.
    Diagnostics diagnostics;         // The lines of RECORD that were ignored.
  };

  // Reads the directory. Malformed contents become diagnostics, not failures.
  static Installed Read(int directory_fd, const std::string& directory);

  // Returns the versions of a distribution, the highest first.
  // `normalized_name` is the result of NormalizedName.
  std::vector<const Version*> Named(const std::string& normalized_name) const;
  // Returns the names of all distributions as their METADATA spells them.
  std::vector<std::string> Names() const;
  // Returns the owner of `path`, such as "acme 1.0", if a distribution with
  // another name owns it.
  std::optional<std::string> OwnerOtherThan(const std::string& normalized_name,
                                            const std::string& path) const;

 private:
  std::vector<Version> versions_;
  // The owners of each path, as indices into versions_.
  std::multimap<std::string, size_t> owners_;
};

}  // namespace bulkhead::install
