// SPDX-License-Identifier: Apache-2.0
#include "tests/discovery/tree_deviations.h"

#include <algorithm>
#include <functional>
#include <regex>
#include <string>
#include <tuple>
#include <utility>

namespace bulkhead::tests {
namespace {

using EntryPoints = GeneratedFolder::EntryPoints;
using Folders = std::vector<GeneratedFolder>;

constexpr std::string_view kSuffix = ".dist-info";

bool IsName(const std::string& text) {
  static const std::regex kName("[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?");
  return std::regex_match(text, kName);
}

std::string Normalized(const std::string& name) {
  static const std::regex kSeparators("[-_.]+");
  std::string normalized = std::regex_replace(name, kSeparators, "-");
  for (char& c : normalized) c = static_cast<char>(std::tolower(c));
  return normalized;
}

// Splits the folder's name at the last "-" into name and version.
GeneratedMetadata FromName(const GeneratedFolder& folder) {
  const std::string stem =
      folder.name.substr(0, folder.name.size() - kSuffix.size());
  const size_t dash = stem.rfind('-');
  return {stem.substr(0, dash),
          dash == std::string::npos ? "" : stem.substr(dash + 1)};
}

bool IsAboutFolder(const GeneratedFolder& folder) {
  return folder.metadata &&
         Normalized(folder.metadata->name) == Normalized(FromName(folder).name);
}

// Returns whether the folder has a version. An invalid name does not matter.
bool HasVersion(const GeneratedFolder& folder) {
  return folder.metadata && !folder.metadata->version.empty() &&
         (IsAboutFolder(folder) || !IsName(folder.metadata->name));
}

// Returns a key for comparing two folders; discovery prefers the greater one.
// Invalid versions compare by their bytes.
auto Standing(const GeneratedFolder& folder) {
  const std::string version =
      HasVersion(folder) ? folder.metadata->version : FromName(folder).version;
  const int rank = VersionRank(version);
  return std::tuple(IsAboutFolder(folder), rank,
                    rank == 0 ? version : std::string());
}

bool IsEggInfo(const GeneratedFolder& folder) {
  return folder.name.ends_with(".egg-info") || folder.name == "EGG-INFO";
}

bool HasSuffixInOtherCase(const GeneratedFolder& folder) {
  std::string lower = folder.name;
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  return lower.ends_with(kSuffix) && !folder.name.ends_with(kSuffix);
}

bool IsLeftover(const GeneratedFolder& folder) {
  return folder.name.ends_with(kSuffix) && folder.name.front() == '~';
}

bool HasNoName(const GeneratedFolder& folder) {
  return folder.name.ends_with(kSuffix) && !IsName(FromName(folder).name);
}

bool IsNoDirectory(const GeneratedFolder& folder) {
  return folder.name.ends_with(kSuffix) &&
         folder.kind == GeneratedFolder::Kind::kFile;
}

bool LeadsOut(const GeneratedFolder& folder) {
  return folder.name.ends_with(kSuffix) &&
         folder.kind == GeneratedFolder::Kind::kLinkOut;
}

// Returns whether discovery prefers another folder of the same distribution.
bool IsLesserVersion(const GeneratedFolder& folder, const Folders& all) {
  return std::any_of(all.begin(), all.end(), [&](const auto& other) {
    if (!other.name.ends_with(kSuffix) ||
        Normalized(FromName(other).name) != Normalized(FromName(folder).name)) {
      return false;
    }
    return Standing(other) > Standing(folder) ||
           (Standing(other) == Standing(folder) && other.name < folder.name);
  });
}

// Returns a deviation that removes the folders for which the predicate is true.
using Predicate = std::function<bool(const GeneratedFolder&, const Folders&)>;
bool Remove(GeneratedTree& tree, const Predicate& predicate) {
  bool changed = false;
  for (GeneratedPlace& place : tree) {
    Folders kept;
    for (const GeneratedFolder& folder : place.folders) {
      if (predicate(folder, place.folders)) {
        changed = true;
      } else {
        kept.push_back(folder);
      }
    }
    place.folders = std::move(kept);
  }
  return changed;
}

// Calls `change` for each distribution. Returns whether any call returned true,
// which means that it changed the distribution.
bool Change(GeneratedTree& tree,
            const std::function<bool(GeneratedFolder&)>& change) {
  bool changed = false;
  for (GeneratedPlace& place : tree) {
    for (GeneratedFolder& folder : place.folders) {
      if (folder.name.ends_with(kSuffix)) changed = change(folder) || changed;
    }
  }
  return changed;
}

bool RemovePlaces(GeneratedTree& tree, GeneratedPlace::Kind kind) {
  return std::erase_if(
             tree, [&](const auto& place) { return place.kind == kind; }) > 0;
}

bool LoseEntryPoints(GeneratedFolder& folder, EntryPoints kind) {
  if (folder.entry_points != kind) return false;
  folder.entry_points = EntryPoints::kNone;
  return true;
}

bool HasOneDash(GeneratedFolder& folder) {
  const GeneratedMetadata named = FromName(folder);
  if (named.name.find('-') == std::string::npos) return false;
  std::string name = named.name;
  std::replace(name.begin(), name.end(), '-', '_');
  folder.name.replace(0, name.size(), name);
  return true;
}

// These functions return whether they changed the version.
bool CompleteMetadata(GeneratedFolder& folder) {
  const std::string& version = FromName(folder).version;
  if (folder.metadata && !folder.metadata->version.empty()) return false;
  if (!folder.metadata) folder.metadata = FromName(folder);
  folder.metadata->version = version;
  return !version.empty();
}

bool CorrectMetadata(GeneratedFolder& folder) {
  if (HasVersion(folder)) return false;
  return std::exchange(folder.metadata, FromName(folder))->version !=
         folder.metadata->version;
}

bool Any(bool (*predicate)(const GeneratedFolder&), GeneratedTree& tree) {
  return Remove(
      tree, [&](const auto& folder, const auto&) { return predicate(folder); });
}

struct Deviation {
  std::string_view name;
  bool (*apply)(GeneratedTree& tree);
};

// Applied in this order.
constexpr Deviation kDeviations[] = {
    {"\"\" on the path",
     [](GeneratedTree& tree) {
       return RemovePlaces(tree, GeneratedPlace::Kind::kWorkingDirectory);
     }},
    {"zip file on the path",
     [](GeneratedTree& tree) {
       return RemovePlaces(tree, GeneratedPlace::Kind::kZip);
     }},
    {".egg-info", [](GeneratedTree& tree) { return Any(IsEggInfo, tree); }},
    {".DIST-INFO",
     [](GeneratedTree& tree) { return Any(HasSuffixInOtherCase, tree); }},
    {"pip's ~leftover",
     [](GeneratedTree& tree) { return Any(IsLeftover, tree); }},
    {"folder without a valid name",
     [](GeneratedTree& tree) { return Any(HasNoName, tree); }},
    {"dist-info that is a file",
     [](GeneratedTree& tree) { return Any(IsNoDirectory, tree); }},
    {"dist-info that is a link out",
     [](GeneratedTree& tree) { return Any(LeadsOut, tree); }},
    {"several versions in a directory",
     [](GeneratedTree& tree) { return Remove(tree, IsLesserVersion); }},
    {"METADATA missing, or Version in it",
     [](GeneratedTree& tree) { return Change(tree, CompleteMetadata); }},
    {"METADATA of another name",
     [](GeneratedTree& tree) { return Change(tree, CorrectMetadata); }},
    {"- in a folder's name",
     [](GeneratedTree& tree) { return Change(tree, HasOneDash); }},
    {"entry_points.txt that links to itself",
     [](GeneratedTree& tree) {
       return Change(tree, [](GeneratedFolder& folder) {
         return LoseEntryPoints(folder, EntryPoints::kLoopingLink);
       });
     }},
    {"entry_points.txt that is a link out",
     [](GeneratedTree& tree) {
       return Change(tree, [](GeneratedFolder& folder) {
         return LoseEntryPoints(folder, EntryPoints::kLinkOut);
       });
     }},
    {"entry_points.txt of over 1 MiB",
     [](GeneratedTree& tree) {
       return Change(tree, [](GeneratedFolder& folder) {
         return LoseEntryPoints(folder, EntryPoints::kTooBig);
       });
     }},
};

}  // namespace

std::vector<std::string_view> TreeDeviations() {
  std::vector<std::string_view> names;
  for (const Deviation& deviation : kDeviations) {
    names.push_back(deviation.name);
  }
  return names;
}

RewrittenTree Rewrite(const GeneratedTree& tree) {
  RewrittenTree rewritten{tree, {}};
  for (const Deviation& deviation : kDeviations) {
    if (deviation.apply(rewritten.tree)) {
      rewritten.deviations.insert(deviation.name);
    }
  }
  return rewritten;
}

}  // namespace bulkhead::tests
