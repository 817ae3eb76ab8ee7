// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/entry_points.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

using Extras = std::vector<std::string>;

TEST(ObjectReferenceTest, AcceptsWhatTheGrammarAllows) {
  const struct {
    const char* value;
    ObjectReference expected;
  } kCases[] = {
      {"foo", {"foo", "", {}}},
      {"value", {"value", "", {}}},
      {"importlib.metadata", {"importlib.metadata", "", {}}},
      {"foo.bar:baz.qux", {"foo.bar", "baz.qux", {}}},
      {"foo : bar", {"foo", "bar", {}}},
      {"foo:  bar  ", {"foo", "bar", {}}},
      {"foo\t:\tbar", {"foo", "bar", {}}},
      {"foo\n:bar", {"foo", "bar", {}}},
      {"foo:bar\n", {"foo", "bar", {}}},
      {"foo:bar[x]", {"foo", "bar", {"x"}}},
      {"foo:bar [x] ", {"foo", "bar", {"x"}}},
      {"foo [x]", {"foo", "", {"x"}}},
      {"foo[x]", {"foo", "", {"x"}}},
      {"foo:bar [ x , y ]", {"foo", "bar", {"x", "y"}}},
      {"foo:bar []", {"foo", "bar", {}}},
      {"foo:bar [ ]", {"foo", "bar", {}}},
      {"foo:bar [x-y]", {"foo", "bar", {"x-y"}}},
      {"foo:bar [x.y]", {"foo", "bar", {"x.y"}}},
      {"foo:bar [a-._b, 0]", {"foo", "bar", {"a-._b", "0"}}},
      {"_f0:_b1", {"_f0", "_b1", {}}},
      {"class:def", {"class", "def", {}}},
      {"módulo:função", {"módulo", "função", {}}},
      // A combining mark, a connector, a space that is not ASCII.
      {"cafe\u0301:a\u203fb\u00a0", {"cafe\u0301", "a\u203fb", {}}},
  };
  for (const auto& test : kCases) {
    const Result<ObjectReference> got = ParseObjectReference(test.value);
    ASSERT_TRUE(got) << Quoted(test.value) << got.error();
    EXPECT_EQ(*got, test.expected) << Quoted(test.value);
  }
}

TEST(ObjectReferenceTest, RefusesTheRest) {
  for (const char* value :
       {// importlib.metadata refuses these too.
        "", "foo:", "foo:[x]", ":bar", " foo:bar", "foo bar", "foo:bar baz",
        "foo:bar:baz", "foo-bar:x", "foo:bar-baz", "foo/bar:x", "foo:bar()",
        "foo:bar # c", "foo:bar [x] z", "foo:bar]", "foo:bar [x\n]",
        "foo:bar [x\n]y", "../x:y", "m = x", "[x]",
        // importlib.metadata accepts these.
        ".foo:bar", "foo.:bar", "foo..bar:..", "foo..bar:x", "..:x",
        "1foo:2bar", "1foo:bar", "foo:2bar", "foo\u00b2:x", "foo:\u00bd",
        "foo:bar [x] [y]", "foo:bar [[x]", "foo:bar [x]]", "foo:bar [x,]",
        "foo:bar [,x]", "foo:bar [x,,y]", "foo:bar [-x]", "foo:bar [x_]",
        "foo:bar [x y]", "foo:bar [é]",
        // A combining mark without a base; bytes that are no character.
        "\u0301foo", "foo\xff:bar"}) {
    EXPECT_FALSE(ParseObjectReference(value)) << Quoted(value);
  }
}

// Returns "group|name|value;..." for each entry that was read.
std::string Summary(std::string_view text) {
  std::string summary;
  for (const EntryPoint& entry : ParseEntryPoints(text, {}).entries) {
    summary += entry.group + "|" + entry.name + "|" + entry.value + ";";
  }
  return summary;
}

TEST(EntryPointsTest, ReadsEachKindOfFile) {
  const struct {
    std::string text;
    std::string expected;
    size_t diagnostics;
  } kCases[] = {
      {"", "", 0},
      {"[g]\na = m:x", "g|a|m:x;", 0},
      {"[g]\na = m:x\n", "g|a|m:x;", 0},
      {"[g]\r\na = m:x\r\n", "g|a|m:x;", 0},
      {"[g]\ra = m:x\r", "g|a|m:x;", 0},
      {"[g]\n\r\na=m:x", "g|a|m:x;", 0},
      // Comments.
      {"[g]\n\n# c\n; c\n  # c\na=m:x", "g|a|m:x;", 0},
      {"[g]\n; c=1\na = m:x", "g|a|m:x;", 0},
      {"[g]\n# c\xff\na = m:x", "g|a|m:x;", 1},
      {"[g]\na = m:x # c\nb = m:x", "g|b|m:x;", 1},
      // Lines that are no entry.
      {"[g]\na\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na : m\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na = m = x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\n= m:x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na =\nb = m:x", "g|b|m:x;", 1},
      {"[g]\n[x = m:x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na = %(x)s\nb = m:x", "g|b|m:x;", 1},
      {"junk\na = m:x\n[g]\nb = m:x", "g|b|m:x;", 2},
      {"junk\n  [g]\nb = m:x", "g|b|m:x;", 1},
      // Groups.
      {"[g] # c\na = m:x", "g|a|m:x;", 0},
      {"[[g]]\na = m:x", "[g]|a|m:x;", 1},
      {"[a]b]\na = m:x", "a]b|a|m:x;", 1},
      {"[ g ]\na = m:x", " g |a|m:x;", 1},
      {"[g-h]\na = m:x", "g-h|a|m:x;", 1},
      {"[1.é]\na = m:x", "1.é|a|m:x;", 0},
      {"[g]\n[x = m:x [e]\nb = m:x", "x = m:x [e|b|m:x;", 1},
      {"[g]\na = m:x\n[h]\n[g]\nb = m:x", "g|a|m:x;g|b|m:x;", 1},
      {"[DEFAULT]\na = m:x\n[g]\nb = m:x", "DEFAULT|a|m:x;g|b|m:x;", 1},
      {"[" + std::string(255, 'g') + "]\na = m:x",
       std::string(255, 'g') + "|a|m:x;", 0},
      // Broken ones: what follows has no group.
      {"[]\na = m:x", "", 2},
      {"[g]\n[]\na = m:x\n[h]\nb = m:x", "h|b|m:x;", 2},
      {"[g]\n[h\na = m:x\n[h]\nb = m:x", "h|b|m:x;", 2},
      {"[g]\n[h\xff]\na = m:x\n  :y\n[h]\nb = m:x", "h|b|m:x;", 2},
      {"[" + std::string(256, 'g') + "]\na = m:x", "", 2},
      // Continued lines.
      {"[g]\na = m\n  :x\nb = m:x", "g|a|m\n:x;g|b|m:x;", 0},
      {"[g]\na = m\n\n  # c\n\n :x\nb = m:x", "g|a|m\n\n\n:x;g|b|m:x;", 0},
      {"[g]\na =\n  m:x", "g|a|m:x;", 0},
      {"[g]\na = m:x\n  junk\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na = m:x\n  [y]\nb = m:x", "g|a|m:x\n[y];g|b|m:x;", 0},
      {"[g]\na = m:x\n  \xff\nb = m:x", "g|b|m:x;", 1},
      {"[g]\njunk\n  c = m:x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\n  a = m:x\n  b = m:x\n c = m:x", "g|a|m:x;g|b|m:x;g|c|m:x;", 0},
      // Indents are counted in characters.
      {"[g]\n\u00a0a = m\n  :x", "g|a|m\n:x;", 0},
      // Names.
      {"[g]\na = m:x\na = m:y", "g|a|m:x;", 1},
      {"[g]\na = bad:\na = m:y", "g|a|m:y;", 1},
      {"[g]\na = m:x\n[h]\na = m:x\n[g]\na = m:y", "g|a|m:x;h|a|m:x;", 2},
      {"[g]\nA = m:x\na = m:x", "g|A|m:x;g|a|m:x;", 0},
      {"[g]\nns:sub = m:x\nmy name = m:x", "g|ns:sub|m:x;g|my name|m:x;", 0},
      // Bytes.
      {"\xef\xbb\xbf[g]\na = m:x", "g|a|m:x;", 1},
      {"[g]\na\xff = m:x\nb = m:x", "g|b|m:x;", 1},
      {std::string("[g]\na\0 = m:x\nb = m:x", 20), "g|b|m:x;", 1},
      {std::string("[g]\na = m:x\0\nb = m:x", 20), "g|b|m:x;", 1},
      {"[g]\n\u3000é = m:é\u00a0", "g|é|m:é;", 0},
      // Characters that do not end a line: VT, FF, FS, NEL, U+2028.
      {"[g]\na\x0b = m:x", "g|a|m:x;", 0},
      {"[g]\na\x0b b\x0c = m:x", "g|a\x0b b|m:x;", 0},
      {"[g]\na = m\x1c:x", "g|a|m\x1c:x;", 0},
      {"[g]\na\u0085b = m\u2028:x", "g|a\u0085b|m\u2028:x;", 0},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Summary(test.text), test.expected) << Quoted(test.text);
    const Diagnostics diagnostics = ParseEntryPoints(test.text, {}).diagnostics;
    EXPECT_EQ(diagnostics.size(), test.diagnostics) << Quoted(test.text);
  }
}

TEST(EntryPointsTest, ReadsWhatRealPackagesHave) {
  EXPECT_EQ(Summary("[console_scripts]\n"
                    "torchfrtrace = tools.flight_recorder.fr_trace:main\n"
                    "torchrun = torch.distributed.run:main\n"
                    "\n"
                    "[torchrun.logs_specs]\n"
                    "default = "
                    "torch.distributed.elastic.multiprocessing:"
                    "DefaultLogsSpecs\n"),
            "console_scripts|torchfrtrace|tools.flight_recorder.fr_trace:main;"
            "console_scripts|torchrun|torch.distributed.run:main;"
            "torchrun.logs_specs|default|"
            "torch.distributed.elastic.multiprocessing:DefaultLogsSpecs;");
  EXPECT_EQ(Summary("[torch.backends]\n"
                    "device_backend = habana_frameworks:__autoload\n"),
            "torch.backends|device_backend|habana_frameworks:__autoload;");
  EXPECT_EQ(Summary("[entries]\nmain = mod:main\nns:sub = mod:main\n"),
            "entries|main|mod:main;entries|ns:sub|mod:main;");
  EXPECT_EQ(Summary("[console_scripts]\nexample = example:main\n"
                    "Example = example:main\n"),
            "console_scripts|example|example:main;"
            "console_scripts|Example|example:main;");
}

TEST(EntryPointsTest, SaysWhereEachThingStands) {
  EntryPoint origin;
  origin.distribution = "Vendor.Pkg";
  origin.version = "2.0";
  origin.file = "/p/entry_points.txt";
  const ParsedEntryPoints parsed = ParseEntryPoints(
      "# c\n[bulkhead.backends]\n\nacme = acme.plugin:entry [a, b]\nbad\n",
      origin);
  ASSERT_EQ(parsed.entries.size(), 1u);
  const EntryPoint& got = parsed.entries[0];
  EXPECT_EQ(got.name, "acme");
  EXPECT_EQ(got.value, "acme.plugin:entry [a, b]");
  EXPECT_EQ(got.group, "bulkhead.backends");
  EXPECT_EQ(got.module, "acme.plugin");
  EXPECT_EQ(got.attr, "entry");
  EXPECT_EQ(got.extras, (Extras{"a", "b"}));
  EXPECT_EQ(got.distribution, "Vendor.Pkg");
  EXPECT_EQ(got.version, "2.0");
  EXPECT_EQ(got.file, "/p/entry_points.txt");
  EXPECT_EQ(got.line, 4u);
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(ToString(parsed.diagnostics[0]),
            "/p/entry_points.txt:5: error: ignored: \"bad\" has no \"=\"");
}

TEST(EntryPointsTest, SaysWhichHeaderLeavesAnEntryWithoutGroup) {
  const ParsedEntryPoints parsed = ParseEntryPoints("[g]\n\n[h\na = m:x", {});
  ASSERT_EQ(parsed.diagnostics.size(), 2u);
  EXPECT_EQ(parsed.diagnostics[0].line, 3u);
  EXPECT_EQ(parsed.diagnostics[0].message,
            "ignored: \"[h\" is no [group], nor is anything up to the next one "
            "used");
  EXPECT_EQ(parsed.diagnostics[1].line, 4u);
  EXPECT_EQ(parsed.diagnostics[1].message,
            "ignored: the [group] in line 3 is broken");
}

TEST(EntryPointsTest, AFloodOfErrorsIsCutShort) {
  std::string text = "[g]\n";
  for (int i = 0; i < 100000; ++i) text += "junk\n";
  text += "a = m:x\n";
  const ParsedEntryPoints parsed = ParseEntryPoints(text, {});
  EXPECT_EQ(parsed.entries.size(), 1u);
  EXPECT_EQ(parsed.diagnostics.size(), 101u);
}

// Each takes milliseconds; a quadratic step would take minutes. Counts the time
// of this process on a processor, since other processes may take theirs.
TEST(EntryPointsTest, NoTextTakesLong) {
  const std::string spaces(100000, ' ');
  std::string entries = "[g]\n";
  std::string groups;
  std::string same_group;
  std::string continued = "[g]\na = m:x\n";
  std::string extras = "[g]\na = m:x [x";
  std::string dots = "[g]\na = m";
  for (int i = 0; i < 100000; ++i) {
    entries += std::to_string(i) + "=m:x\n";
    groups += "[g" + std::to_string(i) + "]\na=m:x\n";
    same_group += "[g]\na=m:x\n";
    continued += " [\n";
    extras += ",x";
    dots += ".m";
  }
  const struct {
    std::string text;
    size_t expected;
  } kCases[] = {
      {entries, 100000},
      {entries + entries.substr(4), 100000},
      {groups, 100000},
      {same_group, 1},
      {continued, 0},
      {extras + "]", 1},
      {dots, 1},
      {"[g]\na = 0" + spaces + "0", 0},
      {"[g]\na = m" + spaces + ":" + spaces + "x" + spaces + "[]", 1},
      {"[g]\na" + spaces + "= m:x", 1},
      {"[g]\n" + std::string(100000, '['), 0},
      {"[g]\na = m:x [" + std::string(100000, '[') + "]", 0},
      {"[g]\n" + std::string(1000000, '\n') + "a = m:x", 1},
      {"[g]\na = " + std::string(100000, '\xa0'), 0},
  };
  const std::clock_t start = std::clock();
  for (const auto& test : kCases) {
    EXPECT_EQ(ParseEntryPoints(test.text, {}).entries.size(), test.expected)
        << Quoted(test.text);
  }
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 20);
}

}  // namespace
}  // namespace bulkhead::discovery
