// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/base/text.h"
#include "tests/fuzz/check.h"

// Checks a stranger's text that was made safe to show: valid UTF-8 without
// control characters, of at most `max_bytes`.
inline void CheckPrintable(std::string_view text, size_t max_bytes) {
  FUZZ_CHECK(text.size() <= max_bytes);
  FUZZ_CHECK(bulkhead::IsValidUtf8(text));
  FUZZ_CHECK(std::none_of(text.begin(), text.end(), [](char c) {
    return (c >= 0 && c < 0x20) || c == 0x7f;
  }));
}
