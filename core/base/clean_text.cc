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

char32_t CodePoint(std::string_view sequence) {
  constexpr unsigned char kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code =
      static_cast<unsigned char>(sequence[0]) & kLeadBits[sequence.size()];
  for (const char byte : sequence.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  }
  return code;
}

bool IsControl(char32_t code) {
  // The ranges C0, DEL and C1. C1 controls a terminal as escape sequences do.
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true;
  // Marks, embeddings, overrides and isolates of the bidirectional algorithm,
  // and the separators of lines and paragraphs.
  return code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) ||
         // Invisible: spaces without width, operators, byte order marks and
         // tags.
         code == 0x200b || (code >= 0x2060 && code <= 0x2064) ||
         code == 0xfeff || (code >= 0xe0000 && code <= 0xe007f);
}

}  // namespace

std::string CleanText(std::string_view text_untrusted, size_t max_bytes) {
  std::string clean;
  while (!text_untrusted.empty()) {
    const size_t length = SequenceLength(text_untrusted);
    const std::string_view sequence = text_untrusted.substr(0, length);
    const std::string_view piece =
        length == 0 || IsControl(CodePoint(sequence)) ? "?" : sequence;
    if (clean.size() + piece.size() > max_bytes) break;
    clean += piece;
    text_untrusted.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace bulkhead
