// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <functional>
#include <string>

namespace bulkhead::cli {

// Files that a program makes slowly, in a directory that may outlast the run.
//
//     KeptFiles kept(directory);
//     const auto place = kept.Get("clip", "ffmpeg 5.1: -i ...",
//                                 [](const std::string& place) {
//                                   return MakeClip(place + "/clip.mp4");
//                                 });
//
// Each recipe has a place of its own, so that another recipe, or another
// release of the program, never finds files that it would not have made. A
// stamp is written when all is made: it has the recipe and a digest of each
// file, and files that are unfinished or were changed since are made anew. Runs
// that want the same files at once wait for the first of them.
class KeptFiles {
 public:
  // Makes files in a directory that is there and empty.
  using Make = std::function<Status(const std::string& place)>;

  explicit KeptFiles(std::string directory)
      : directory_(std::move(directory)) {}

  // Returns the place of what `make` makes by the recipe: all that the files
  // depend on, in words. Returns the failure of `make`, of which nothing is
  // kept, and kInvalidArgument if the directory cannot be written.
  Result<std::string> Get(const std::string& name, const std::string& recipe,
                          const Make& make) const;

 private:
  const std::string directory_;
};

}  // namespace bulkhead::cli
