// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/discovery/random.h"

namespace bulkhead::tests {

struct GeneratedMetadata {
  std::string name;
  std::string version;  // Empty: there is no such line.
};

// Something in a directory of the path that looks like a distribution.
struct GeneratedFolder {
  enum class Kind { kDirectory, kFile, kLinkOut };
  enum class EntryPoints {
    kNone,
    kFile,
    kDirectory,
    kLoopingLink,
    kLinkOut,
    kTooBig
  };

  std::string name;
  Kind kind = Kind::kDirectory;
  std::optional<GeneratedMetadata> metadata;
  EntryPoints entry_points = EntryPoints::kNone;
  std::string text;
  std::string original_name;  // Before any rewriting.
};

// One entry of the path.
struct GeneratedPlace {
  enum class Kind {
    kDirectory,
    kMissing,
    kFile,
    kZip,               // Of the directory that it would be otherwise.
    kWorkingDirectory,  // "" on the path.
    kAgain              // The place before, a second time, by a link.
  };

  std::string name;
  Kind kind = Kind::kDirectory;
  std::vector<GeneratedFolder> folders;
};

using GeneratedTree = std::vector<GeneratedPlace>;

// One to three places with distributions of few names in many spellings, of
// several versions, with every irregularity that is known.
GeneratedTree MakeTree(Random& random);

// Versions in their order; those of equal rank are equal. Below all others is
// what the list does not have.
int VersionRank(const std::string& version);

// Writes it to the directory `root`, each place as root/PLACE. Links that lead
// out end in files that this makes beside `root`.
void WriteTree(const GeneratedTree& tree, const std::string& root);

}  // namespace bulkhead::tests
