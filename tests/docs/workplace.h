// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/support/program.h"

namespace bulkhead::tests {

// The directory in which the commands of a page run: a home of its own, an
// empty state directory, `bulkhead` in PATH and as tools/bulkhead, and the
// files that the pages talk of:
//
//   clip.mp4     320x240, 120 frames at 24 a second, H.264 with AAC
//   other.mp4    another clip
//   damaged.mp4  clip.mp4 with noise in its packets
//   broken.mp4   48 pixels wide, on which the backend acme aborts
//   acme-1.0-py3-none-linux_x86_64.whl   the backend acme, installed already
//
// Sets variables of this process' environment, so that a Host of the test uses
// the same home, state and programs. Needs BULKHEAD_TEST_CLI,
// BULKHEAD_TEST_LIBEXEC and BULKHEAD_TEST_WHEEL in the environment.
class Workplace {
 public:
  // `name` sets the directories of one test program apart.
  explicit Workplace(const std::string& name);

  const std::string& path() const { return path_; }

  // Runs `text` in bash, in the directory, with stderr joined to stdout.
  // `last_status` is the value of `$?` at the beginning.
  ProgramResult Run(const std::string& text, int last_status = 0) const;

 private:
  std::string path_;
};

}  // namespace bulkhead::tests
