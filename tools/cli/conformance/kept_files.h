// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <functional>
#include <string>

namespace bulkhead::cli::conformance {

// A cache of files that take long to make, in a directory that may outlast the
// run.
//
//     KeptFiles kept(directory);
//     const auto place = kept.Get("clip", "ffmpeg 5.1: -i ...",
//                                 [](const std::string& place) {
//                                   return MakeClip(place + "/clip.mp4");
//                                 });
//
// The recipe is the key of the cache: a text with all that the files depend on,
// such as the arguments and the release of the program that makes them. Each
// recipe has a subdirectory of its own. When all files are made, Get() writes a
// stamp with the recipe and a digest of each file. Files without a stamp, or
// with other digests, are made again. A lock lets one process at a time make or
// check the files of a recipe.
class KeptFiles {
 public:
  // Makes the files in `place`, an existing empty directory.
  using Make = std::function<Status(const std::string& place)>;

  explicit KeptFiles(std::string directory)
      : directory_(std::move(directory)) {}

  // Returns the directory with the files of `recipe`. If the files are missing,
  // makes them first. `name` only begins the name of the recipe's subdirectory,
  // for people. If `make` fails, removes its files and returns its error.
  // Returns kInvalidArgument if the directory cannot be written.
  Result<std::string> Get(const std::string& name, const std::string& recipe,
                          const Make& make) const;

 private:
  const std::string directory_;
};

}  // namespace bulkhead::cli::conformance
