// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/entry_points.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/discovery/text.h"

namespace bulkhead::discovery {
namespace {

using Extras = std::vector<std::string>;

TEST(ObjectReferenceTest, AcceptsWhatTheGrammarAllows) {
  const struct {
    const char* value;
    ObjectReference expected;
  } kCases[] = {
      {"foo", {"foo", "", {}}},
      {"foo.bar:baz.qux", {"foo.bar", "baz.qux", {}}},
      {"foo : bar", {"foo", "bar", {}}},
      {"foo:  bar  ", {"foo", "bar", {}}},
      {"foo\t:\tbar", {"foo", "bar", {}}},
      {"foo\n:bar", {"foo", "bar", {}}},
      {" foo:bar\n", {"foo", "bar", {}}},
      {"foo:bar[x]", {"foo", "bar", {"x"}}},
      {"foo:bar [x] ", {"foo", "bar", {"x"}}},
      {"foo [x]", {"foo", "", {"x"}}},
      {"foo:bar [ x , y ]", {"foo", "bar", {"x", "y"}}},
      {"foo:bar []", {"foo", "bar", {}}},
      {"foo:bar [x-y]", {"foo", "bar", {"x-y"}}},
      {"foo:bar [x.y]", {"foo", "bar", {"x.y"}}},
      {"_f0:_b1", {"_f0", "_b1", {}}},
      {"m\xc3\xb3"
       "dulo:fun\xc3\xa7\xc3\xa3o",
       {"m\xc3\xb3"
        "dulo",
        "fun\xc3\xa7\xc3\xa3o",
        {}}},
  };
  for (const auto& test : kCases) {
    const Result<ObjectReference> got = ParseObjectReference(test.value);
    ASSERT_TRUE(got) << Quoted(test.value) << got.error();
    EXPECT_EQ(*got, test.expected) << Quoted(test.value);
  }
}

TEST(ObjectReferenceTest, RefusesTheRest) {
  for (const char* value : {"",
                            "foo:",
                            "foo:[x]",
                            ":bar",
                            "foo bar",
                            "foo:bar baz",
                            "foo:bar:baz",
                            "foo-bar:x",
                            "foo:bar-baz",
                            "foo/bar:x",
                            "foo:bar()",
                            "foo:bar # c",
                            "foo:bar [x] z",
                            "foo:bar]",
                            "foo:bar [x\n]y",
                            ".foo:bar",
                            "foo.:bar",
                            "foo..bar:x",
                            "1foo:bar",
                            "foo:2bar",
                            "..:x",
                            "../x:y",
                            "m = x",
                            "foo:bar [x] [y]",
                            "foo:bar [[x]",
                            "foo:bar [x]]",
                            "foo:bar [x,]",
                            "foo:bar [,x]",
                            "foo:bar [-x]",
                            "foo:bar [x y]"}) {
    EXPECT_FALSE(ParseObjectReference(value)) << Quoted(value);
  }
}

// "group|name|value;..." of what was read.
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
    const char* expected;
    size_t diagnostics;
  } kCases[] = {
      {"", "", 0},
      {"[g]\na = m:x", "g|a|m:x;", 0},
      {"[g]\r\na = m:x\r\n", "g|a|m:x;", 0},
      {"[g]\ra = m:x\r", "g|a|m:x;", 0},
      {"[g]\n\n# c\n; c\n  # c\na=m:x", "g|a|m:x;", 0},
      {"[g]\na\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na : m\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na = m = x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\n= m:x\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na =\nb = m:x", "g|b|m:x;", 1},
      {"junk\na = m:x\n[g]\nb = m:x", "g|b|m:x;", 2},
      {"[g] # c\na = m:x", "g|a|m:x;", 0},
      {"[g]\na = m:x # c\nb = m:x", "g|b|m:x;", 1},
      {"[[g]]\na = m:x", "[g]|a|m:x;", 1},
      {"[a]b]\na = m:x", "a]b|a|m:x;", 1},
      {"[]\na = m:x", "", 2},
      {"[ g ]\na = m:x", " g |a|m:x;", 1},
      {"[g]\na = m\n  :x\nb = m:x", "g|a|m\n:x;g|b|m:x;", 0},
      {"[g]\na = m:x\n  junk\nb = m:x", "g|b|m:x;", 1},
      {"[g]\na = m:x\n  [y]\nb = m:x", "g|a|m:x\n[y];g|b|m:x;", 0},
      {"[g]\n  a = m:x\n  b = m:x", "g|a|m:x;g|b|m:x;", 0},
      {"[g]\na = m:x\na = m:y", "g|a|m:x;", 1},
      {"[g]\na = m:x\n[h]\n[g]\nb = m:x", "g|a|m:x;g|b|m:x;", 1},
      {"[g]\nA = m:x\na = m:x", "g|A|m:x;g|a|m:x;", 0},
      {"[g]\nns:sub = m:x\nmy name = m:x", "g|ns:sub|m:x;g|my name|m:x;", 0},
      {"[g]\n[x = m:x\nb = m:x", "g|b|m:x;", 1},
      {"\xef\xbb\xbf[g]\na = m:x", "g|a|m:x;", 1},
      {"[g]\na\xff = m:x\nb = m:x", "g|b|m:x;", 1},
      {std::string("[g]\na\0 = m:x\nb = m:x", 20), "g|b|m:x;", 1},
      {"[g]\na = %(x)s\nb = m:x", "g|b|m:x;", 1},
      {"[DEFAULT]\na = m:x\n[g]\nb = m:x", "DEFAULT|a|m:x;g|b|m:x;", 1},
      {"[g]\na\x0b = m:x", "g|a|m:x;", 0},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(Summary(test.text), test.expected) << Quoted(test.text);
    const Diagnostics diagnostics = ParseEntryPoints(test.text, {}).diagnostics;
    EXPECT_EQ(diagnostics.size(), test.diagnostics) << Quoted(test.text);
  }
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
  const EntryPoint expected = {"acme",
                               "acme.plugin:entry [a, b]",
                               "bulkhead.backends",
                               "acme.plugin",
                               "entry",
                               Extras{"a", "b"},
                               "Vendor.Pkg",
                               "2.0",
                               "/p/entry_points.txt",
                               4};
  EXPECT_EQ(parsed.entries[0], expected);
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(ToString(parsed.diagnostics[0]),
            "/p/entry_points.txt:5: error: ignored: \"bad\" has no \"=\"");
}

TEST(EntryPointsTest, AFloodOfErrorsIsCutShort) {
  std::string text = "[g]\n";
  for (int i = 0; i < 100000; ++i) text += "junk\n";
  text += "a = m:x\n";
  const ParsedEntryPoints parsed = ParseEntryPoints(text, {});
  EXPECT_EQ(parsed.entries.size(), 1u);
  EXPECT_EQ(parsed.diagnostics.size(), 101u);
}

}  // namespace
}  // namespace bulkhead::discovery
