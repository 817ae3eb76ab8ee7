// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::cli {

// Returns the sentences of a clause of bulkhead_backend.h, such as "flush-1",
// as the header of this release has them; an empty text for an unknown id.
std::string_view ClauseWords(std::string_view id);

// Returns the id of the clause that a message of Bulkhead about a breach of the
// ABI names ("... against its clause flush-1, ..."), or an empty text.
std::string ClauseNamedIn(std::string_view message);

}  // namespace bulkhead::cli
