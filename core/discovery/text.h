// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace bulkhead::discovery {

// What the files of strangers need before anybody interprets or prints them.
// Locale plays no part: the application may have set any.

// Well-formed as Unicode defines it: no overlong forms, no surrogates.
bool IsValidUtf8(std::string_view text_untrusted);

// `text_untrusted` in double quotes, with control characters, quotes,
// backslashes and bytes that are not UTF-8 escaped, cut after 200 bytes: fit
// for a terminal and for JSON.
std::string Quoted(std::string_view text_untrusted);

// Without the ASCII white space at both ends.
std::string_view Trimmed(std::string_view text);

bool IsAsciiSpace(char c);
bool IsAsciiDigit(char c);
bool IsAsciiLetter(char c);
char AsciiLower(char c);

}  // namespace bulkhead::discovery
