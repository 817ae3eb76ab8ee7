// SPDX-License-Identifier: Apache-2.0
#include "core/base/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bulkhead {
namespace {

constexpr size_t kMaxQuotedBytes = 200;

// A decoded character of a text. 0 bytes: there is none, or it is invalid.
struct Character {
  int32_t code_point = -1;
  size_t bytes = 0;
};

Character First(std::string_view text) {
  if (text.empty()) return {};
  const auto lead = static_cast<uint8_t>(text.front());
  if (lead < 0x80) return {lead, 1};
  Character character;
  const utf8proc_ssize_t bytes = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &character.code_point);
  if (bytes <= 0) return {};
  character.bytes = static_cast<size_t>(bytes);
  return character;
}

Character Last(std::string_view text) {
  // Steps back over continuation bytes to the start of the last character.
  for (size_t bytes = 1; bytes <= std::min<size_t>(4, text.size()); ++bytes) {
    const std::string_view end = text.substr(text.size() - bytes);
    if ((static_cast<uint8_t>(end.front()) & 0xc0) == 0x80) continue;
    const Character character = First(end);
    return character.bytes == bytes ? character : Character();
  }
  return {};
}

bool IsSpace(int32_t code_point) {
  if (code_point < 0x80) {
    return code_point == ' ' || (code_point >= '\t' && code_point <= '\r') ||
           (code_point >= 0x1c && code_point <= 0x1f);
  }
  const utf8proc_property_t& property = *utf8proc_get_property(code_point);
  return property.category == UTF8PROC_CATEGORY_ZS ||
         property.bidi_class == UTF8PROC_BIDI_CLASS_WS ||
         property.bidi_class == UTF8PROC_BIDI_CLASS_B ||
         property.bidi_class == UTF8PROC_BIDI_CLASS_S;
}

bool IsInvisible(int32_t code_point) {
  if (code_point < 0x80) return code_point < 0x20 || code_point == 0x7f;
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      return false;
  }
}

bool IsIdentifierStart(int32_t code_point) {
  if (code_point < 0x80) {
    return IsAsciiLetter(static_cast<char>(code_point)) || code_point == '_';
  }
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
      return true;
    default:
      return false;
  }
}

bool IsIdentifierPart(int32_t code_point) {
  if (IsIdentifierStart(code_point)) return true;
  if (code_point < 0x80) return IsAsciiDigit(static_cast<char>(code_point));
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

bool IsWordCharacter(int32_t code_point) {
  if (code_point < 0x80) return IsIdentifierPart(code_point);
  const char* category = utf8proc_category_string(code_point);
  return category[0] == 'L' || category[0] == 'N';
}

template <typename Predicate>
bool AllOf(std::string_view text, Predicate predicate) {
  while (!text.empty()) {
    const Character character = First(text);
    if (character.bytes == 0 || !predicate(character.code_point)) return false;
    text.remove_prefix(character.bytes);
  }
  return true;
}

void AppendEscaped(std::string_view bytes, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += "\\x";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
}

}  // namespace

bool IsAscii(std::string_view text_untrusted) {
  uint64_t bits = 0;
  while (text_untrusted.size() >= sizeof(bits)) {
    uint64_t word;
    std::memcpy(&word, text_untrusted.data(), sizeof(word));
    bits |= word;
    text_untrusted.remove_prefix(sizeof(word));
  }
  for (const char c : text_untrusted) bits |= static_cast<uint8_t>(c);
  return (bits & 0x8080808080808080) == 0;
}

bool IsValidUtf8(std::string_view text_untrusted) {
  return IsAscii(text_untrusted) ||
         AllOf(text_untrusted, [](int32_t) { return true; });
}

std::string Quoted(std::string_view text_untrusted) {
  std::string out = "\"";
  size_t taken = 0;
  while (!text_untrusted.empty() && taken < kMaxQuotedBytes) {
    const Character character = First(text_untrusted);
    const size_t bytes = std::max<size_t>(character.bytes, 1);
    const std::string_view piece = text_untrusted.substr(0, bytes);
    if (character.bytes == 0 || IsInvisible(character.code_point)) {
      AppendEscaped(piece, out);
    } else {
      if (piece == "\"" || piece == "\\") out += '\\';
      out += piece;
    }
    text_untrusted.remove_prefix(bytes);
    taken += bytes;
  }
  return out + (text_untrusted.empty() ? "\"" : "\"...");
}

std::string_view Trimmed(std::string_view text_untrusted) {
  std::string_view text = text_untrusted;
  while (true) {
    const Character first = First(text);
    if (first.bytes == 0 || !IsSpace(first.code_point)) break;
    text.remove_prefix(first.bytes);
  }
  while (true) {
    const Character last = Last(text);
    if (last.bytes == 0 || !IsSpace(last.code_point)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

bool IsIdentifier(std::string_view text_untrusted) {
  return IsIdentifierStart(First(text_untrusted).code_point) &&
         AllOf(text_untrusted, IsIdentifierPart);
}

bool IsWord(std::string_view text_untrusted) {
  return !text_untrusted.empty() && AllOf(text_untrusted, IsWordCharacter);
}

bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }

bool IsAsciiLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char AsciiLower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace bulkhead
