// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace bulkhead::cli {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number == 0) return std::nullopt;
  return number;
}

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
                  fmt::format("{} is not below {}; name with --relative-to a "
                              "directory that all files are in",
                              input, relative_to));
  }
  return below;
}

// Returns true if two spellings, such as "./a//b" and "a/b", name one file.
bool IsSameFile(const std::string& a, const std::string& b) {
  return fs::absolute(a).lexically_normal() ==
         fs::absolute(b).lexically_normal();
}

Status Collision(const BatchItem& a, const BatchItem& b) {
  if (IsSameFile(a.input, b.input)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} and {} are two names of one file; leave out one",
                    a.input, b.input));
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("{} and {} would both go to {}; set them apart by "
                  "--relative-to ROOT, which keeps the directories below ROOT",
                  a.input, b.input, a.output));
}

Status CheckDistinct(const std::vector<BatchItem>& items) {
  std::map<std::string_view, const BatchItem*> item_of;
  for (const BatchItem& item : items) {
    const auto [other, added] = item_of.emplace(item.output, &item);
    if (!added) return Collision(*other->second, item);
  }
  for (const BatchItem& item : items) {
    const std::string_view output = item.output;
    for (size_t at = output.find('/'); at != std::string_view::npos;
         at = output.find('/', at + 1)) {
      const auto outer = item_of.find(output.substr(0, at));
      if (outer != item_of.end()) return Collision(*outer->second, item);
    }
    if (output.starts_with(kBatchRecords) &&
        output.substr(kBatchRecords.size()).starts_with('/')) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{} would go to {}, where the records of the "
                                "batch are; choose another --relative-to",
                                item.input, item.output));
    }
  }
  return Status();
}

}  // namespace

Result<BatchShard> ParseShard(std::string_view text) {
  const size_t slash = text.find('/');
  const auto number = NumberIn(text.substr(0, slash));
  const auto count = slash == std::string_view::npos
                         ? std::nullopt
                         : NumberIn(text.substr(slash + 1));
  if (!number || !count || *number > *count) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("--shard {}: write I/N, I from 1 to N, as in 3/8", text));
  }
  return BatchShard{*number, *count};
}

Result<std::vector<std::string>> ReadList(const std::string& path,
                                          bool nul_separated) {
  std::ifstream file;
  if (path != "-") {
    errno = 0;
    file.open(path, std::ios::binary);
    if (!file) {
      return Status(Code::kNotFound,
                    fmt::format("cannot open {}: {}", path,
                                std::generic_category().message(errno)));
    }
  }
  std::istream& list = path == "-" ? std::cin : file;
  std::vector<std::string> inputs;
  for (std::string input;
       std::getline(list, input, nul_separated ? '\0' : '\n');) {
    if (!input.empty()) inputs.push_back(std::move(input));
  }
  // A directory can be opened, and then be read no byte of.
  if (list.bad() || (path != "-" && fs::is_directory(path))) {
    return Status(Code::kInvalidArgument, fmt::format("cannot read {}", path));
  }
  return inputs;
}

Result<std::vector<BatchItem>> PlanBatch(std::vector<std::string> inputs,
                                         const std::string& relative_to,
                                         const std::string& suffix) {
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  std::vector<BatchItem> items;
  items.reserve(inputs.size());
  for (std::string& input : inputs) {
    fs::path output = fs::path(input).filename();
    if (input == "-" || output.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("\"{}\" is not the name of a file", input));
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

std::vector<BatchItem> ItemsOf(const BatchShard& shard,
                               const std::vector<BatchItem>& items) {
  std::vector<BatchItem> chosen;
  for (size_t i = shard.number - 1; i < items.size(); i += shard.count) {
    chosen.push_back(items[i]);
  }
  return chosen;
}

}  // namespace bulkhead::cli
