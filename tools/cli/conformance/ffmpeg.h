// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <vector>

#include "tools/cli/conformance/kept_files.h"

namespace bulkhead::cli::conformance {

// Arguments of a program, without the shell's quoting.
using Words = std::vector<std::string>;

// Returns `words` followed by `others`.
Words Joined(Words words, const Words& others);

// Run the programs ffmpeg and ffprobe. Return kNotFound, with the package to
// install, if the program is missing.
Status RunFfmpeg(const Words& arguments);
Status RunFfprobe(const Words& arguments);

// Calls KeptFiles::Get for files that `make` makes with ffmpeg or ffprobe. Adds
// the version of FFmpeg to the recipe, so that files from another version are
// not reused. Fails like KeptFiles::Get and RunFfprobe.
Result<std::string> KeepOfFfmpeg(const KeptFiles& kept, const std::string& name,
                                 const Words& recipe,
                                 const KeptFiles::Make& make);

}  // namespace bulkhead::cli::conformance
