// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::discovery {

// What the files of strangers need before anybody interprets or prints them.
// Locale plays no part: the application may have set any. Everything here is
// quick about ASCII, and thread-safe.

// Well-formed as Unicode defines it: no overlong forms, no surrogates.
bool IsValidUtf8(std::string_view text_untrusted);

bool IsAscii(std::string_view text_untrusted);

// `text_untrusted` in double quotes, cut after 200 bytes, with all escaped
// that is not fit for a terminal and for JSON: control characters, line
// breaks, invisible characters (those that reverse the direction of text are
// some), quotes, backslashes, bytes that are not UTF-8.
std::string Quoted(std::string_view text_untrusted);

// Without the white space at both ends: that of Unicode, as Python's
// str.strip() has it, so also U+001C to U+001F, U+00A0, U+2028, U+3000.
std::string_view Trimmed(std::string_view text_untrusted);

// An identifier as the Python language reference has it, by the characters'
// general categories. The some 30 characters that Unicode adds or takes away
// by name (Other_ID_Start, compatibility forms) go by their category too.
// Keywords are identifiers.
bool IsIdentifier(std::string_view text_untrusted);

// Letters, numbers and "_", at least one: what `\w+` matches in Python.
bool IsWord(std::string_view text_untrusted);

bool IsAsciiDigit(char c);
bool IsAsciiLetter(char c);
char AsciiLower(char c);

}  // namespace bulkhead::discovery
