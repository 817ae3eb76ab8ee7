// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::cli::conformance {

// Returns the sentences of the clause `id`, such as "flush-1", from this
// release's bulkhead_backend.h. Returns an empty text for an unknown id.
std::string_view ClauseWords(std::string_view id);

// Returns the id of the clause that an error message of Bulkhead names, such as
// "... against its clause flush-1, ...". Returns an empty text if the message
// names no clause of this release.
std::string ClauseNamedIn(std::string_view message);

}  // namespace bulkhead::cli::conformance
