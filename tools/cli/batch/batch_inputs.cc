// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_inputs.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <system_error>
#include <utility>

namespace bulkhead::cli::batch {
namespace {

// Returns the number of at least 1 that is the whole text.
std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number == 0) return std::nullopt;
  return number;
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
  // A directory can be opened, but not read.
  if (list.bad() || (path != "-" && std::filesystem::is_directory(path))) {
    return Status(Code::kInvalidArgument, fmt::format("cannot read {}", path));
  }
  return inputs;
}

std::vector<bulkhead::batch::Item> ItemsOf(
    const BatchShard& shard, const std::vector<bulkhead::batch::Item>& items) {
  std::vector<bulkhead::batch::Item> chosen;
  for (size_t i = shard.number - 1; i < items.size(); i += shard.count) {
    chosen.push_back(items[i]);
  }
  return chosen;
}

}  // namespace bulkhead::cli::batch
