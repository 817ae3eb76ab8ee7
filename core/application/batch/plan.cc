// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace bulkhead::batch {
namespace {

namespace fs = std::filesystem;

// Returns the path of `input` below `relative_to`.
Result<fs::path> Below(const std::string& relative_to,
                       const std::string& input) {
  fs::path root = relative_to;
  fs::path path = input;
  if (root.is_absolute() != path.is_absolute()) {
    root = fs::absolute(root);
    path = fs::absolute(path);
  }
  path = path.lexically_normal();
  const fs::path below =
      path.lexically_relative((root / "").lexically_normal());
  if (below.empty() || below == "." || *below.begin() == "..") {
    return Status(Code::kInvalidArgument,
                  input + " is not below " + relative_to +
                      "; name with relative_to (--relative-to) a directory "
                      "that all files are in");
  }
  return below;
}

// Returns true if two spellings, such as "./a//b" and "a/b", name one file.
bool IsSameFile(const std::string& a, const std::string& b) {
  return fs::absolute(a).lexically_normal() ==
         fs::absolute(b).lexically_normal();
}

Status Collision(const Item& a, const Item& b) {
  if (IsSameFile(a.input, b.input)) {
    return Status(Code::kInvalidArgument,
                  a.input + " and " + b.input +
                      " are two names of one file; leave out one");
  }
  return Status(Code::kInvalidArgument,
                a.input + " and " + b.input + " would both go to " + a.output +
                    "; set them apart by relative_to (--relative-to), which "
                    "keeps the directories below it");
}

// Checks that no two outputs are the same file, that none is a directory of
// another output's path, and that none lies among the records.
Status CheckDistinct(const std::vector<Item>& items) {
  std::map<std::string_view, const Item*> item_of;
  for (const Item& item : items) {
    const auto [other, added] = item_of.emplace(item.output, &item);
    if (!added) return Collision(*other->second, item);
  }
  for (const Item& item : items) {
    const std::string_view output = item.output;
    for (size_t at = output.find('/'); at != std::string_view::npos;
         at = output.find('/', at + 1)) {
      const auto outer = item_of.find(output.substr(0, at));
      if (outer != item_of.end()) return Collision(*outer->second, item);
    }
    if (output.starts_with(kRecords) &&
        output.substr(kRecords.size()).starts_with('/')) {
      return Status(Code::kInvalidArgument,
                    item.input + " would go to " + item.output +
                        ", where the records of the batch are; choose another "
                        "relative_to (--relative-to)");
    }
  }
  return Status();
}

}  // namespace

Result<std::vector<Item>> PlanOutputs(std::vector<std::string> inputs,
                                      const std::string& relative_to,
                                      const std::string& suffix) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  std::vector<Item> items;
  items.reserve(inputs.size());
  for (std::string& input : inputs) {
    fs::path output = fs::path(input).filename();
    if (input == "-" || output.empty()) {
      return Status(Code::kInvalidArgument,
                    "\"" + input + "\" is not the name of a file");
    }
    if (!relative_to.empty()) {
      Result<fs::path> below = Below(relative_to, input);
      if (!below) return below.error();
      output = *std::move(below);
    }
    output += "." + suffix;
    items.push_back({std::move(input), output.string()});
  }
  if (Status status = CheckDistinct(items); !status.ok()) return status;
  return items;
}

}  // namespace bulkhead::batch
