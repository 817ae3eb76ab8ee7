// SPDX-License-Identifier: Apache-2.0
//
// Compares discovery with importlib.metadata of this machine's Python on the
// same generated files. Both read the same, or a row of the table of deviations
// explains the difference. BULKHEAD_TEST_SEED sets the seed.

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/discovery/entry_points.h"
#include "core/discovery/scan.h"
#include "tests/discovery/file_deviations.h"
#include "tests/discovery/generated_files.h"
#include "tests/discovery/generated_trees.h"
#include "tests/discovery/importlib_oracle.h"
#include "tests/discovery/random.h"
#include "tests/discovery/tree_deviations.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using discovery::ParsedEntryPoints;
using discovery::ParseEntryPoints;

constexpr size_t kFiles = 11000;
constexpr size_t kTrees = 2500;

uint64_t Seed() {
  const char* given = std::getenv("BULKHEAD_TEST_SEED");
  const uint64_t seed =
      given == nullptr ? 20 : std::strtoull(given, nullptr, 10);
  std::printf("BULKHEAD_TEST_SEED=%llu\n",
              static_cast<unsigned long long>(seed));
  return seed;
}

// A temporary directory, in memory if possible: tests write tens of thousands
// of files to it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    for (const std::string& parent :
         {std::string("/dev/shm"), TemporaryDirectory()}) {
      path_ = parent + "/bulkhead-XXXXXX";
      if (mkdtemp(path_.data()) != nullptr) return;
    }
    std::abort();
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

ReadEntry Fields(const EntryPoint& entry) {
  return {entry.group,  entry.name, entry.value,
          entry.module, entry.attr, entry.extras};
}

std::vector<ReadEntry> Ours(std::string_view text) {
  std::vector<ReadEntry> entries;
  for (const EntryPoint& entry : ParseEntryPoints(text, {}).entries) {
    entries.push_back(Fields(entry));
  }
  return entries;
}

// Returns whether importlib.metadata read exactly these entries.
bool Same(const OracleFile& file, const std::vector<ReadEntry>& entries) {
  if (!file.exception.empty() || file.entries.size() != entries.size()) {
    return false;
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!file.entries[i].valid || file.entries[i].entry != entries[i]) {
      return false;
    }
  }
  return true;
}

std::string Describe(const std::vector<ReadEntry>& entries) {
  std::string text;
  for (const ReadEntry& entry : entries) {
    text += "  " + Quoted(entry.group) + " " + Quoted(entry.name) + " = " +
            Quoted(entry.value) + ": " + Quoted(entry.module) + " " +
            Quoted(entry.attr);
    for (const std::string& extra : entry.extras) text += " [" + extra + "]";
    text += "\n";
  }
  return text;
}

// Counts for each deviation the cases in which it applied, and the cases in
// which it was the only one.
class Tally {
 public:
  void Add(const std::set<std::string_view>& deviations, bool differs) {
    if (deviations.empty()) ++regular_;
    for (const std::string_view deviation : deviations) {
      ++applied_[deviation];
      if (differs && deviations.size() == 1) ++alone_[deviation];
    }
  }

  // Fails the test for a deviation that no case has shown.
  void Finish(const std::vector<std::string_view>& all) {
    std::printf("%6zu equal without a deviation\n", regular_);
    for (const std::string_view deviation : all) {
      std::printf("%6zu equal with: %.*s (%zu by it alone)\n",
                  applied_[deviation], static_cast<int>(deviation.size()),
                  deviation.data(), alone_[deviation]);
      EXPECT_GT(alone_[deviation], 0u) << deviation;
    }
  }

 private:
  size_t regular_ = 0;
  std::map<std::string_view, size_t> applied_;
  std::map<std::string_view, size_t> alone_;
};

TEST(ImportlibDifferentialTest, FilesAreReadAlikeOrADeviationSaysWhy) {
  Random random(Seed());
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  OracleQuestions questions;
  std::vector<std::string> texts;
  std::vector<RewrittenFile> rewritten;
  while (texts.size() < kFiles) {
    std::string text = GeneratedFile(random);
    if (HasPlaceholder(text)) continue;
    const std::string number = std::to_string(texts.size());
    rewritten.push_back(Rewrite(text));
    for (const char* which : {"o", "r"}) {
      const std::string prefix = number + which;
      WriteFile(directory + "/" + prefix + "entry_points.txt",
                *which == 'o' ? text : rewritten.back().text);
      questions.files.push_back(prefix);
    }
    texts.push_back(std::move(text));
  }
  std::string reason;
  const auto answers = AskImportlib(directory, questions, reason);
  if (!answers) GTEST_SKIP() << reason;
  std::printf("importlib.metadata of Python %s, %zu files\n",
              answers->python.c_str(), texts.size());
  ASSERT_EQ(answers->files.size(), 2 * texts.size());

  Tally tally;
  int failures = 0;
  for (size_t i = 0; i < texts.size() && failures < 5; ++i) {
    const OracleFile& original = answers->files[2 * i];
    const OracleFile& regular = answers->files[2 * i + 1];
    const std::vector<ReadEntry> ours = Ours(texts[i]);
    const std::vector<ReadEntry> expected =
        Expected(rewritten[i], regular.entries);
    const bool same_as_original = Same(original, ours);
    if (!regular.exception.empty() || ours != expected ||
        (rewritten[i].deviations.empty() && !same_as_original)) {
      ++failures;
      ADD_FAILURE() << "file " << i << ":\n"
                    << Quoted(texts[i]) << "\nrewritten:\n"
                    << Quoted(rewritten[i].text)
                    << "\nwhere it raised: " << regular.exception << "\nours:\n"
                    << Describe(ours) << "expected:\n"
                    << Describe(expected);
    }
    tally.Add(rewritten[i].deviations, !same_as_original);
  }
  tally.Finish(FileDeviations());
}

// Pairs of a distribution, as "PLACE/FOLDER VERSION", and its entries.
using Found = std::vector<std::pair<std::string, std::vector<ReadEntry>>>;

std::string PathOf(const GeneratedPlace& place, const std::string& root) {
  if (place.kind == GeneratedPlace::Kind::kWorkingDirectory) return "";
  return root + "/" + place.name +
         (place.kind == GeneratedPlace::Kind::kZip ? ".zip" : "");
}

Found OursIn(const GeneratedTree& tree, const std::string& directory,
             const std::string& root) {
  std::vector<discovery::SearchDirectory> path;
  for (const GeneratedPlace& place : tree) {
    const std::string below = PathOf(place, root);
    path.push_back({below.empty() ? "" : directory + "/" + below, "test"});
  }
  Found found;
  for (const discovery::Distribution& distribution :
       discovery::ScanPluginPath(path).distributions) {
    auto& [name, entries] = found.emplace_back();
    name = distribution.dist_info_path().substr(directory.size() + 1 +
                                                root.size() + 1) +
           " " + distribution.version;
    for (const EntryPoint& entry : distribution.entry_points) {
      entries.push_back(Fields(entry));
    }
  }
  return found;
}

// Returns the distributions that importlib.metadata found, in the order of the
// original folders, since importlib.metadata has no order of its own.
Found TheirsIn(const GeneratedTree& tree, const OracleTree& oracle,
               const std::string& root) {
  std::map<std::string, std::string> originals;
  for (const GeneratedPlace& place : tree) {
    for (const GeneratedFolder& folder : place.folders) {
      originals[PathOf(place, root) + "/" + folder.name] =
          PathOf(place, "") + "/" + folder.original_name;
    }
  }
  Found found;
  for (const OracleDistribution& distribution : oracle.distributions) {
    auto& [name, entries] = found.emplace_back();
    const auto original = originals.find(distribution.folder);
    name = original == originals.end() ? distribution.folder
                                       : original->second.substr(1);
    name += " " + distribution.version;
    for (const OracleEntry& entry : distribution.entries) {
      entries.push_back(entry.entry);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

std::string Describe(const Found& found) {
  std::string text;
  for (const auto& [name, entries] : found) {
    text += " " + name + "\n" + Describe(entries);
  }
  return text;
}

std::string Describe(const GeneratedTree& tree) {
  std::string text;
  for (const GeneratedPlace& place : tree) {
    text += place.name + ", kind " +
            std::to_string(static_cast<int>(place.kind)) + "\n";
    for (const GeneratedFolder& folder : place.folders) {
      text += "  " + Quoted(folder.name) + ", kind " +
              std::to_string(static_cast<int>(folder.kind)) +
              ", entry_points.txt " +
              std::to_string(static_cast<int>(folder.entry_points)) +
              (folder.metadata ? ", METADATA " + folder.metadata->name + " " +
                                     folder.metadata->version
                               : std::string()) +
              "\n";
    }
  }
  return text;
}

TEST(ImportlibDifferentialTest, TreesAreFoundAlikeOrADeviationSaysWhy) {
  Random random(Seed());
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  // The working directory, for which "" on the path stands.
  WriteTree({{.name = ".",
              .folders = {{.name = "cwd-1.0.dist-info",
                           .entry_points = GeneratedFolder::EntryPoints::kFile,
                           .text = "[g]\ncwd = m:x\n"}}}},
            directory);
  OracleQuestions questions;
  std::vector<GeneratedTree> trees;
  std::vector<RewrittenTree> rewritten;
  const auto ask = [&](const GeneratedTree& tree, const std::string& root) {
    WriteTree(tree, directory + "/" + root);
    std::vector<std::string>& path = questions.trees.emplace_back();
    for (const GeneratedPlace& place : tree) {
      path.push_back(PathOf(place, root));
    }
  };
  for (size_t i = 0; i < kTrees; ++i) {
    trees.push_back(MakeTree(random));
    rewritten.push_back(Rewrite(trees.back()));
    ask(trees.back(), "o" + std::to_string(i));
    ask(rewritten.back().tree, "r" + std::to_string(i));
  }
  std::string reason;
  const auto answers = AskImportlib(directory, questions, reason);
  if (!answers) GTEST_SKIP() << reason;
  std::printf("importlib.metadata of Python %s, %zu trees\n",
              answers->python.c_str(), trees.size());
  ASSERT_EQ(answers->trees.size(), 2 * trees.size());

  Tally tally;
  int failures = 0;
  for (size_t i = 0; i < trees.size() && failures < 5; ++i) {
    const std::string number = std::to_string(i);
    const OracleTree& original = answers->trees[2 * i];
    const OracleTree& regular = answers->trees[2 * i + 1];
    const Found ours = OursIn(trees[i], directory, "o" + number);
    const Found expected = TheirsIn(rewritten[i].tree, regular, "r" + number);
    const bool same_as_original =
        original.exception.empty() &&
        ours == TheirsIn(trees[i], original, "o" + number);
    if (!regular.exception.empty() || ours != expected ||
        (rewritten[i].deviations.empty() && !same_as_original)) {
      ++failures;
      ADD_FAILURE() << "tree " << i << ":\n"
                    << Describe(trees[i])
                    << "\nwhere it raised: " << regular.exception << "\nours:\n"
                    << Describe(ours) << "expected:\n"
                    << Describe(expected);
    }
    tally.Add(rewritten[i].deviations, !same_as_original);
  }
  tally.Finish(TreeDeviations());
}

// Returns whether Python classifies the code point by name, unlike text.h,
// which goes by category.
bool IsExceptional(int code_point) {
  static const std::set<int> kExceptional = {
      // Other_ID_Start and Other_ID_Continue.
      0xb7, 0x387, 0x1369, 0x136a, 0x136b, 0x136c, 0x136d, 0x136e, 0x136f,
      0x1370, 0x1371, 0x1885, 0x1886, 0x19da, 0x2118, 0x212e, 0x200c, 0x200d,
      0x30fb, 0xff65,
      // Letters that are no longer letters after normalization, or exceptions.
      0x37a, 0xe33, 0xeb3, 0x2e2f, 0xfc5e, 0xfc5f, 0xfc60, 0xfc61, 0xfc62,
      0xfc63, 0xfdfa, 0xfdfb, 0xfe70, 0xfe72, 0xfe74, 0xfe76, 0xfe78, 0xfe7a,
      0xfe7c, 0xfe7e, 0xff9e, 0xff9f};
  return kExceptional.contains(code_point);
}

std::string Utf8(int code_point) {
  const auto byte = [](int value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) {
    return byte(0x80 | ((code_point >> shift) & 0x3f));
  };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) {
    return {byte(0xe0 | code_point >> 12), tail(6), tail(0)};
  }
  return {byte(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

TEST(ImportlibDifferentialTest, CharactersAreWhatPythonTakesThemFor) {
  const ScratchDirectory scratch;
  const std::string& directory = scratch.path();
  std::string reason;
  const auto answers = AskImportlib(directory, {.characters = true}, reason);
  if (!answers) GTEST_SKIP() << reason;
  ASSERT_EQ(answers->characters.size(), size_t{0x110000});
  int failures = 0;
  for (int c = 0; c < 0x110000 && failures < 20; ++c) {
    // Python and libutf8proc each know code points that the other does not know
    // yet.
    if (answers->characters[c] == '-' ||
        utf8proc_category(c) == UTF8PROC_CATEGORY_CN) {
      continue;
    }
    const std::string character = Utf8(c);
    const int ours = Trimmed(character).empty() * 1 +
                     IsIdentifier(character) * 2 +
                     IsIdentifier("a" + character) * 4;
    const int python = answers->characters[c] - '0';
    if (ours == python || IsExceptional(c)) continue;
    ++failures;
    ADD_FAILURE() << "U+" << std::hex << c << ": " << ours << ", in Python "
                  << answers->python << " " << python;
  }
}

}  // namespace
}  // namespace bulkhead::tests
