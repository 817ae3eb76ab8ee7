// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/discovery/random.h"

namespace bulkhead::tests {

struct GeneratedMetadata {
  std::string name;
  std::string version;  // Empty if the file has no such line.
};

// An object in a directory of the path that looks like a distribution.
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
  std::string original_name;  // The name before any rewriting.
};

// One entry of the path.
struct GeneratedPlace {
  enum class Kind {
    kDirectory,
    kMissing,
    kFile,
    kZip,               // A zip file with the contents of a kDirectory.
    kWorkingDirectory,  // The entry "" on the path.
    kAgain              // A link to the place before.
  };

  std::string name;
  Kind kind = Kind::kDirectory;
  std::vector<GeneratedFolder> folders;
};

using GeneratedTree = std::vector<GeneratedPlace>;

// Returns a random tree: one to three places with distributions of few names in
// many spellings and several versions, with every known irregularity.
GeneratedTree MakeTree(Random& random);

// Returns the rank of a version that MakeTree uses. Equal versions have equal
// ranks. An unknown version ranks below all others.
int VersionRank(const std::string& version);

// Writes the tree to the directory `root`, each place as root/PLACE. A link
// that leads out of the tree ends at a file that this function makes beside
// `root`.
void WriteTree(const GeneratedTree& tree, const std::string& root);

}  // namespace bulkhead::tests
