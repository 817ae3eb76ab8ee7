// SPDX-License-Identifier: Apache-2.0
#include "tests/discovery/generated_files.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace bulkhead::tests {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kLineEnds[] = {"\n"sv, "\r\n"sv, "\r"sv};

constexpr std::string_view kSpaces[] = {
    ""sv,       ""sv,       " "sv,      " "sv,    "  "sv,
    "\t"sv,     "\u00a0"sv, "\u3000"sv, "\x1f"sv, "\x0b"sv,
    "\u0085"sv, "\u2028"sv, "\x1c"sv,   " \t "sv};

constexpr std::string_view kGroups[] = {
    "g"sv,        "g"sv,   "h"sv,          "bulkhead.backends"sv,
    "a.b"sv,      " g "sv, "[g]"sv,        "a]b"sv,
    "[["sv,       "g-h"sv, "DEFAULT"sv,    "\xc3\xa9.\u4e2d"sv,
    "g\x0ch"sv,   "G"sv,   "x = m:x [e"sv, "#"sv,
    "g\u2029h"sv, "."sv,   "1"sv,          "\u00a0"sv};

constexpr std::string_view kNames[] = {"a"sv,
                                       "b"sv,
                                       "c"sv,
                                       "A"sv,
                                       "ns:sub"sv,
                                       "my name"sv,
                                       "\xc3\xa9t\xc3\xa9"sv,
                                       "x.y-z_1"sv,
                                       "a[b"sv,
                                       "a]"sv,
                                       "a;b"sv,
                                       "a#b"sv,
                                       "a\x0b b"sv,
                                       "\u202e"sv,
                                       "\ufeff"sv,
                                       "a\u0301"sv,
                                       "\x7f"sv,
                                       "%(x)s"sv};

// Values with known behaviour, and further ones.
constexpr std::string_view kValues[] = {"m:x"sv,
                                        "m:x"sv,
                                        "m:x"sv,
                                        "m.n:x.y"sv,
                                        "foo"sv,
                                        "foo.bar:baz.qux"sv,
                                        "foo : bar"sv,
                                        "foo:  bar  "sv,
                                        "foo\t:\tbar"sv,
                                        "foo:bar[x]"sv,
                                        "foo:bar [x] "sv,
                                        "foo [x]"sv,
                                        "foo[x]"sv,
                                        "foo:bar [ x , y ]"sv,
                                        "foo:bar []"sv,
                                        "foo:bar [x-y]"sv,
                                        "foo:bar [x.y, z]"sv,
                                        "foo:bar [x] [y]"sv,
                                        "foo:bar [[x]"sv,
                                        "foo:bar [x]]"sv,
                                        "foo:bar [x,]"sv,
                                        "foo:bar [x y]"sv,
                                        "foo:bar [\xc3\xa9]"sv,
                                        "foo:bar [-x]"sv,
                                        ".foo:bar"sv,
                                        "foo.:bar"sv,
                                        "foo..bar:.."sv,
                                        "1foo:2bar"sv,
                                        "m\xc3\xb3"
                                        "dulo:fun\xc3\xa7\xc3\xa3o"sv,
                                        ""sv,
                                        "foo:"sv,
                                        "foo:[x]"sv,
                                        ":bar"sv,
                                        "foo bar"sv,
                                        "foo:bar baz"sv,
                                        "foo:bar:baz"sv,
                                        "foo-bar:x"sv,
                                        "foo:bar-baz"sv,
                                        "foo/bar:x"sv,
                                        "foo:bar()"sv,
                                        "foo:bar # c"sv,
                                        "foo:bar [x] z"sv,
                                        "foo:bar]"sv,
                                        "m = x"sv,
                                        "class:def"sv,
                                        "foo\x0b:bar"sv,
                                        "foo:\u2028"
                                        "bar"sv,
                                        "foo:bar [x\x0c,y]"sv,
                                        "\u4e2d:\u6587"sv,
                                        "\u0301m:x"sv,
                                        "e\u0301:x"sv,
                                        "a\u203f:b\u0903"sv,
                                        "a\u00b2:x"sv,
                                        "\u2160:a\u0660"sv,
                                        "a\u00b7:b"sv,
                                        "m:\u20ac"sv,
                                        "m:x\u200b"sv,
                                        "..:.x"sv,
                                        "m:x[a-._b]"sv,
                                        "%(x)s"sv,
                                        "foo[:bar]"sv,
                                        "foo:bar [x]:[y]"sv,
                                        "[x]"sv,
                                        "_:_"sv,
                                        "m\u00a0:x"sv};

// The parts of random values.
constexpr std::string_view kTokens[] = {
    "m"sv,        "x1"sv,     "_"sv,    "."sv,      "."sv,  ":"sv, ":"sv,
    "["sv,        "]"sv,      ","sv,    " "sv,      "\t"sv, "-"sv, "7"sv,
    "\xc3\xa9"sv, "\u00a0"sv, "\x0b"sv, "\u0301"sv, "="sv,  "#"sv, "\u2029"sv};

constexpr std::string_view kOddLines[] = {"a"sv,
                                          "a : m"sv,
                                          "= m:x"sv,
                                          "a ="sv,
                                          "a="sv,
                                          "; c"sv,
                                          "; c=1"sv,
                                          "# c"sv,
                                          "  # c"sv,
                                          "#\x0b[h]"sv,
                                          "[]"sv,
                                          "["sv,
                                          "]"sv,
                                          "[g"sv,
                                          "[]]"sv,
                                          "[[]"sv,
                                          "[x = m:x"sv,
                                          "[x = m:x [e]"sv,
                                          "[] = m:x"sv,
                                          "[g] = m:x"sv,
                                          "[g] # c"sv,
                                          "[g] junk"sv,
                                          "junk"sv,
                                          "a\xff = m:x"sv,
                                          "a = m\xc3:x"sv,
                                          "# \xff"sv,
                                          "; \xe2\x82"sv,
                                          "[g\xff]"sv,
                                          "a\0 = m:x"sv,
                                          "a = m:x\0"sv,
                                          "[g\0]"sv,
                                          "# \0"sv,
                                          "\0"sv,
                                          "\xed\xa0\x80 = m:x"sv,
                                          "\x0b"sv,
                                          "\xc0\xaf = m:x"sv,
                                          "\xef\xbb\xbf[g]"sv,
                                          "a = m:x = "sv,
                                          "=="sv,
                                          ";"sv};

constexpr std::string_view kContinuations[] = {
    ":x"sv, "[y]"sv,  "junk"sv, "c = m:x"sv, "[g]"sv, "\xff"sv,
    "]"sv,  ", y]"sv, ".n"sv,   "; c"sv,     "\0"sv};

constexpr std::string_view kAlphabet[] = {
    "["sv,  "]"sv,    "="sv,    ":"sv,      "#"sv,        ";"sv,
    " "sv,  "\t"sv,   "\n"sv,   "\n"sv,     "\r"sv,       "."sv,
    ","sv,  "a"sv,    "b"sv,    "g"sv,      "\xc3\xa9"sv, "\xff"sv,
    "\0"sv, "\x0b"sv, "\xc2"sv, "\u2028"sv, "\n[g]\n"sv,  "a=m:x\n"sv};

std::string Value(Random& random) {
  std::string value;
  if (!random.OneIn(4)) {
    value = random.Pick(kValues);
  } else {
    for (size_t i = random.Below(8); i > 0; --i) value += random.Pick(kTokens);
  }
  if (random.OneIn(200)) value += std::string(random.Below(3000), 'x');
  return value;
}

std::string Header(Random& random) {
  std::string group(random.Pick(kGroups));
  if (random.OneIn(15)) group += std::string(240 + random.Below(20), 'g');
  return "[" + group + "]";
}

std::string Name(Random& random) {
  std::string name(random.Pick(kNames));
  if (random.OneIn(3)) name += std::to_string(random.Below(100));
  if (random.OneIn(200)) name += std::string(random.Below(3000), 'n');
  return name;
}

std::string Assignment(Random& random, bool regular) {
  if (regular) {
    return "n" + std::to_string(random.Below(1000)) + " = m.n:x" +
           std::to_string(random.Below(10));
  }
  std::string line = Name(random);
  line += random.Pick(kSpaces);
  line += "=";
  line += random.Pick(kSpaces);
  return line + Value(random);
}

std::string Lines(Random& random) {
  // Most files have few irregularities, so that each one is also tested alone.
  const bool regular = !random.OneIn(4);
  const size_t odd_one_in = regular ? 8 : 2;
  std::string_view line_end = random.Pick(kLineEnds);
  std::string text;
  if (random.OneIn(20)) text += "\xef\xbb\xbf";
  if (!random.OneIn(10)) {
    text += regular ? "[g]" : Header(random);
    text += line_end;
  }
  for (size_t i = random.OneIn(50) ? 200 : random.Below(8); i > 0; --i) {
    if (random.OneIn(20)) line_end = random.Pick(kLineEnds);
    if (random.OneIn(regular ? 30 : 6)) text += random.Pick(kSpaces);
    if (!random.OneIn(odd_one_in)) {
      text += random.OneIn(5) ? "[h" + std::to_string(random.Below(3)) + "]"
                              : Assignment(random, true);
    } else {
      switch (random.Below(6)) {
        case 0:
          text += Header(random);
          break;
        case 1:
          text += "  ";
          text += random.Pick(kSpaces);
          text += random.Pick(kContinuations);
          break;
        case 2:
          text += random.Pick(kOddLines);
          break;
        case 3:
          text += random.Pick(kSpaces);
          break;
        default:
          text += Assignment(random, false);
      }
    }
    if (random.OneIn(10)) text += random.Pick(kSpaces);
    if (i > 1 || random.OneIn(2)) text += line_end;
  }
  return text;
}

std::string Soup(Random& random) {
  std::string text;
  const bool any_byte = random.OneIn(4);
  for (size_t i = random.Below(60); i > 0; --i) {
    if (any_byte && random.OneIn(2)) {
      text += static_cast<char>(random.Below(256));
    } else {
      text += random.Pick(kAlphabet);
    }
  }
  return text;
}

std::string Damaged(std::string text, Random& random) {
  for (size_t i = 1 + random.Below(3); i > 0 && !text.empty(); --i) {
    const size_t at = random.Below(text.size());
    const size_t length = 1 + random.Below(4);
    switch (random.Below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, random.Pick(kAlphabet));
        break;
      case 2:
        text.insert(at, text.substr(random.Below(text.size()), 20));
        break;
      default:
        text[at] = static_cast<char>(random.Below(256));
    }
  }
  return text;
}

}  // namespace

std::string GeneratedFile(Random& random) {
  switch (random.Below(8)) {
    case 0:
      return Soup(random);
    case 1:
      return Damaged(Lines(random), random);
    default:
      return Lines(random);
  }
}

}  // namespace bulkhead::tests
