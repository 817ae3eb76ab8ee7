// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <vector>

#include "tools/cli/conformance/kept_files.h"

namespace bulkhead::cli {

// Arguments of a program.
using Words = std::vector<std::string>;

// Returns the words of both.
Words Joined(Words words, const Words& others);

// Run the programs of FFmpeg, which share no code with a backend that is under
// test. Return kNotFound, with the package to install, if there is no such
// program.
Status RunFfmpeg(const Words& arguments);
Status RunFfprobe(const Words& arguments);

// Returns the place of what `make` makes with these programs by `recipe`. What
// another release of the programs has made is not taken for it. Errors as of
// KeptFiles::Get and RunFfprobe.
Result<std::string> KeepOfFfmpeg(const KeptFiles& kept, const std::string& name,
                                 const Words& recipe,
                                 const KeptFiles::Make& make);

}  // namespace bulkhead::cli
