// SPDX-License-Identifier: Apache-2.0
#include "tests/discovery/generated_trees.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, int> kVersions[] = {
    {"0.9.dev1", 1}, {"0.9", 2},   {"1.0a1", 3}, {"1.0rc1", 4},
    {"1.0", 5},      {"1.0.0", 5}, {"v1", 5},    {"1.0.post1", 6},
    {"1.9", 7},      {"1.10", 8},  {"2.0", 9},   {"1!0.1", 10},
};

constexpr std::string_view kNames[] = {
    "foo",     "Foo", "FOO",     "foo_bar", "foo.bar", "Foo__Bar", "foo-bar",
    "foo-baz", "pkg", "pkg.dot", "p",       "a.b-c",   "x1"};

constexpr std::string_view kOddFolders[] = {"foo.egg-info",
                                            "foo-1.0.egg-info",
                                            "EGG-INFO",
                                            "FOO-1.0.DIST-INFO",
                                            "foo-1.0.Dist-Info",
                                            "~oo-1.0.dist-info",
                                            "~bc-2.0.dist-info",
                                            ".dist-info",
                                            "-1.0.dist-info",
                                            "f\xc3\xb3o-1.0.dist-info",
                                            "foo bar-1.0.dist-info",
                                            "_foo-1.0.dist-info",
                                            "foo-1.0.dist-info.bak",
                                            "foo",
                                            "foo-1.0.dist-infoo"};

std::string Text(Random& random) {
  std::string text = "[g]\n";
  for (size_t i = random.Below(3); i > 0; --i) {
    text += "n" + std::to_string(i) + " = m" +
            std::to_string(random.Below(1000000)) + ":x\n";
  }
  return text;
}

// `calm` is the factor by which irregularities are rarer.
GeneratedMetadata Metadata(const std::string& name, const std::string& version,
                           size_t calm, Random& random) {
  GeneratedMetadata metadata = {name, version};
  if (random.OneIn(30 * calm)) metadata.name = "not a name!";
  if (random.OneIn(12 * calm)) metadata.name = "other";
  if (metadata.name == "other" || random.OneIn(12 * calm)) {
    metadata.version = random.Pick(kVersions).first;
  }
  if (random.OneIn(30 * calm)) metadata.version.clear();
  return metadata;
}

GeneratedFolder MakeFolder(Random& random, size_t calm, bool plain) {
  const std::string name(random.Pick(kNames));
  const std::string version(random.OneIn(20) ? std::string_view()
                                             : random.Pick(kVersions).first);
  GeneratedFolder folder;
  folder.name = name + (version.empty() ? "" : "-" + version) + ".dist-info";
  if (!random.OneIn(6 * calm)) {
    folder.metadata = Metadata(name, version, calm, random);
  }
  if (!random.OneIn(8)) {
    folder.entry_points = GeneratedFolder::EntryPoints::kFile;
    folder.text = Text(random);
  }
  if (!plain && random.OneIn(6 * calm)) folder.name = random.Pick(kOddFolders);
  if (!plain && random.OneIn(20 * calm))
    folder.kind = GeneratedFolder::Kind::kFile;
  if (!plain && random.OneIn(20 * calm))
    folder.kind = GeneratedFolder::Kind::kLinkOut;
  if (!plain && random.OneIn(5 * calm)) {
    using EntryPoints = GeneratedFolder::EntryPoints;
    constexpr EntryPoints kOdd[] = {
        EntryPoints::kDirectory, EntryPoints::kLoopingLink,
        EntryPoints::kLinkOut, EntryPoints::kTooBig};
    folder.entry_points = random.Pick(kOdd);
    folder.text = Text(random);
  }
  folder.original_name = folder.name;
  return folder;
}

GeneratedPlace MakePlace(Random& random, size_t calm, size_t index) {
  using Kind = GeneratedPlace::Kind;
  GeneratedPlace place;
  place.name = "p" + std::to_string(index) + (random.OneIn(10) ? ".egg" : "");
  if (random.OneIn(6 * calm)) {
    constexpr Kind kOdd[] = {Kind::kMissing, Kind::kFile, Kind::kZip,
                             Kind::kWorkingDirectory, Kind::kAgain};
    place.kind = random.Pick(kOdd);
    if (place.kind == Kind::kAgain && index == 0) place.kind = Kind::kMissing;
  }
  if (place.kind != Kind::kDirectory && place.kind != Kind::kZip) return place;
  for (size_t i = random.Below(5); i > 0; --i) {
    GeneratedFolder folder = MakeFolder(random, calm, place.kind == Kind::kZip);
    bool is_new = true;
    for (const GeneratedFolder& other : place.folders) {
      is_new = is_new && other.name != folder.name;
    }
    if (is_new) place.folders.push_back(std::move(folder));
  }
  return place;
}

void WriteFile(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

void WriteEntryPoints(const GeneratedFolder& folder, const std::string& path,
                      const std::string& outside) {
  using EntryPoints = GeneratedFolder::EntryPoints;
  switch (folder.entry_points) {
    case EntryPoints::kNone:
      return;
    case EntryPoints::kFile:
      return WriteFile(path, folder.text);
    case EntryPoints::kDirectory:
      fs::create_directory(path);
      return;
    case EntryPoints::kLoopingLink:
      return fs::create_symlink("entry_points.txt", path);
    case EntryPoints::kLinkOut:
      WriteFile(outside, folder.text);
      return fs::create_symlink(outside, path);
    case EntryPoints::kTooBig:
      WriteFile(path, folder.text);
      return fs::resize_file(path, (1 << 20) + 1);
  }
}

void WriteFolder(const GeneratedFolder& folder, const std::string& place,
                 const std::string& outside) {
  std::string path = place + "/" + folder.name;
  if (folder.kind == GeneratedFolder::Kind::kFile) return WriteFile(path, "x");
  if (folder.kind == GeneratedFolder::Kind::kLinkOut) {
    fs::create_symlink(outside, path);
    path = outside;
  }
  fs::create_directory(path);
  if (folder.metadata) {
    const std::string& version = folder.metadata->version;
    WriteFile(path + "/METADATA",
              "Metadata-Version: 2.1\nName: " + folder.metadata->name + "\n" +
                  (version.empty() ? "" : "Version: " + version + "\n") +
                  "\nText\n");
  }
  WriteEntryPoints(folder, path + "/entry_points.txt", outside + ".txt");
}

}  // namespace

GeneratedTree MakeTree(Random& random) {
  GeneratedTree tree;
  // Calm trees make sure that each irregularity is also tested alone.
  const size_t calm = random.OneIn(3) ? 1 : 5;
  const size_t places = 1 + random.Below(3);
  for (size_t i = 0; i < places; ++i) {
    tree.push_back(MakePlace(random, calm, i));
  }
  return tree;
}

int VersionRank(const std::string& version) {
  for (const auto& [known, rank] : kVersions) {
    if (known == version) return rank;
  }
  return 0;
}

void WriteTree(const GeneratedTree& tree, const std::string& root) {
  using Kind = GeneratedPlace::Kind;
  fs::create_directory(root);
  int outside = 0;
  std::string before;
  for (const GeneratedPlace& place : tree) {
    const std::string path = root + "/" + place.name;
    if (place.kind == Kind::kFile) WriteFile(path, "x");
    if (place.kind == Kind::kAgain && !before.empty()) {
      fs::create_symlink(before, path);
    }
    if (place.kind != Kind::kDirectory && place.kind != Kind::kZip) continue;
    fs::create_directory(path);
    for (const GeneratedFolder& folder : place.folders) {
      WriteFolder(folder, path, root + ".out" + std::to_string(outside++));
    }
    if (place.kind == Kind::kDirectory) before = place.name;
  }
}

}  // namespace bulkhead::tests
