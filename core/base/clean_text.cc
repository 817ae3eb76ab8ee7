// SPDX-License-Identifier: Apache-2.0
#include "core/base/clean_text.h"

namespace bulkhead {
namespace {

// Returns the length of the valid UTF-8 sequence that `text` begins with, or 0.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80                    ? 1
                        : lead >= 0xc2 && lead <= 0xdf ? 2
                        : lead >= 0xe0 && lead <= 0xef ? 3
                        : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  if (length > 2) {
    // No overlong forms, no surrogates, nothing beyond U+10FFFF.
    const auto second = static_cast<unsigned char>(text[1]);
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
      return 0;
    }
  }
  return length;
}

}  // namespace

std::string CleanText(std::string_view text_untrusted, size_t max_bytes) {
  std::string clean;
  while (!text_untrusted.empty()) {
    const size_t length = SequenceLength(text_untrusted);
    const auto first = static_cast<unsigned char>(text_untrusted[0]);
    // The C1 controls U+0080 to U+009F control a terminal as escape sequences
    // do.
    const bool control = first < 0x20 || first == 0x7f ||
                         (first == 0xc2 && length == 2 &&
                          static_cast<unsigned char>(text_untrusted[1]) < 0xa0);
    const std::string_view piece =
        length == 0 || control ? "?" : text_untrusted.substr(0, length);
    if (clean.size() + piece.size() > max_bytes) break;
    clean += piece;
    text_untrusted.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace bulkhead
