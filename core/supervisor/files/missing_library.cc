// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/missing_library.h"

#include <algorithm>
#include <array>

namespace bulkhead::files {
namespace {

constexpr std::string_view kNotFound = ": cannot open shared object file";
constexpr std::string_view kBeforeVersion = ".so.";
constexpr std::array<std::string_view, 6> kOfTheWorker = {
    "libavcodec",    "libavformat", "libavutil",
    "libswresample", "libswscale",  "libxxhash"};
constexpr size_t kLongestVersion = 4;

bool IsVersion(std::string_view text) {
  return !text.empty() && text.size() <= kLongestVersion &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string PackageOfMissingLibrary(std::string_view text_untrusted) {
  const size_t end = text_untrusted.find(kNotFound);
  if (end == std::string_view::npos) return std::string();
  const std::string_view before = text_untrusted.substr(0, end);
  // The word before kNotFound. Without a space it is all of `before`, since
  // npos + 1 is 0.
  const std::string_view library =
      before.substr(before.find_last_of(" \n") + 1);
  for (const std::string_view name : kOfTheWorker) {
    if (!library.starts_with(name)) continue;
    const std::string_view rest = library.substr(name.size());
    if (!rest.starts_with(kBeforeVersion)) continue;
    const std::string_view version = rest.substr(kBeforeVersion.size());
    if (!IsVersion(version)) continue;
    return "; Debian has " + std::string(library) + " in the package " +
           std::string(name) + std::string(version);
  }
  return std::string();
}

}  // namespace bulkhead::files
