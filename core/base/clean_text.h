// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bulkhead {

// Returns at most `max_bytes` of a stranger's text, made safe to show on a
// terminal: valid UTF-8, with "?" for each control character and each invalid
// byte. Line breaks, invisible characters, and characters that change the
// direction of the text count as control characters, since they can make a line
// look like another one.
std::string CleanText(std::string_view text_untrusted, size_t max_bytes);

}  // namespace bulkhead
