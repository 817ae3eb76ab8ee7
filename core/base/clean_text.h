// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bulkhead {

// At most `max_bytes` of what a stranger wrote, fit to be shown to a person on
// a terminal: valid UTF-8, each control character and each invalid byte
// replaced by "?". Line breaks are control characters too.
std::string CleanText(std::string_view text_untrusted, size_t max_bytes);

}  // namespace bulkhead
