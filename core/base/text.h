// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead {

// Functions that check and print text from files of strangers. None depends on
// the locale, which the application may have set to anything. All are quick for
// ASCII, and thread-safe.

// Returns whether the text is well-formed UTF-8: no overlong forms, no
// surrogates.
bool IsValidUtf8(std::string_view text_untrusted);

bool IsAscii(std::string_view text_untrusted);

// Returns the text in double quotes, cut after 200 bytes, safe for a terminal
// and for JSON. Escapes control characters, line breaks, invisible characters
// (such as those that reverse the direction of text), quotes, backslashes, and
// bytes that are not UTF-8.
std::string Quoted(std::string_view text_untrusted);

// Returns the text without the white space at both ends. White space is what
// Python's str.strip() removes, so it includes U+001C to U+001F, U+00A0, U+2028
// and U+3000.
std::string_view Trimmed(std::string_view text_untrusted);

// Returns whether the text is an identifier of Python, judged by the general
// categories of its characters. Differs from Python for about 30 characters
// that Unicode lists as exceptions (Other_ID_Start, compatibility forms).
// Keywords count as identifiers.
bool IsIdentifier(std::string_view text_untrusted);

// Returns whether the text matches `\w+` in Python: letters, numbers and "_".
bool IsWord(std::string_view text_untrusted);

bool IsAsciiDigit(char c);
bool IsAsciiLetter(char c);
char AsciiLower(char c);

}  // namespace bulkhead
