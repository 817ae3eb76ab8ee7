// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the small readers of a distribution's metadata. The first byte of the
// input selects the reader; the rest is the reader's input.

#include <algorithm>
#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "core/discovery/manifest.h"
#include "core/discovery/package_version.h"
#include "core/include/bulkhead/entry_point.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/permissions_check.h"

namespace {

using namespace bulkhead;
using namespace bulkhead::discovery;

void FuzzManifest(std::string_view text) {
  const ParsedManifest parsed = ParseManifest(text, "bulkhead.toml", "device");
  FUZZ_CHECK(parsed.manifest.has_value() == parsed.refusal.empty());
  FUZZ_CHECK(IsValidUtf8(parsed.refusal));
  FUZZ_CHECK(parsed.diagnostics.size() <= 101);
  for (const bulkhead::Diagnostic& diagnostic : parsed.diagnostics) {
    FUZZ_CHECK(diagnostic.file == "bulkhead.toml");
    FUZZ_CHECK(IsValidUtf8(diagnostic.message));
  }
  if (!parsed.manifest) return;
  FUZZ_CHECK(!parsed.manifest->devices.empty());
  FUZZ_CHECK(parsed.manifest->devices.size() <= 64);
  CheckPermissions(parsed.manifest->permissions);
  const auto& clips = parsed.manifest->health_check;
  FUZZ_CHECK(clips.size() <= kMaxHealthCheckClips);
  for (const HealthCheckClip& clip : clips) {
    FUZZ_CHECK(CleanedRelativePath(clip.path) == clip.path);
    FUZZ_CHECK(!clip.picture_md5s.empty());
  }
}

void FuzzFolderName(std::string_view text) {
  const std::string folder = std::string(text) + std::string(kDistInfoSuffix);
  const auto parsed = ParseFolderName(folder);
  if (!parsed) return;
  FUZZ_CHECK(IsDistributionName(parsed->name));
  FUZZ_CHECK(folder.starts_with(parsed->name));
  FUZZ_CHECK(IsValidUtf8(parsed->version));
  const std::string normalized = bulkhead::NormalizedName(parsed->name);
  FUZZ_CHECK(bulkhead::NormalizedName(normalized) == normalized);
}

// Returns whether the text is a version: every other text comes below the
// lowest version.
bool IsVersion(std::string_view text) {
  return CompareVersions(text, "0.dev0") >= 0;
}

// Checks that versions have a total order, in which equal versions compare
// alike to every other version.
void FuzzVersions(std::string_view text) {
  std::vector<std::string_view> versions;
  while (versions.size() < 3) {
    const size_t end = std::min(text.find('\n'), text.size());
    versions.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const std::string_view a : versions) {
    FUZZ_CHECK(CompareVersions(a, a) == 0);
    for (const std::string_view b : versions) {
      const std::weak_ordering order = CompareVersions(a, b);
      FUZZ_CHECK((order < 0) == (CompareVersions(b, a) > 0));
      if (!IsVersion(a) && IsVersion(b)) FUZZ_CHECK(order < 0);
      for (const std::string_view c : versions) {
        if (order > 0 || CompareVersions(b, c) > 0) continue;
        FUZZ_CHECK(CompareVersions(a, c) <= 0);
      }
    }
  }
}

void FuzzPath(std::string_view text) {
  const auto cleaned = CleanedRelativePath(text);
  if (!cleaned) return;
  FUZZ_CHECK(!cleaned->empty() && cleaned->front() != '/');
  FUZZ_CHECK(cleaned->find('\0') == std::string::npos);
  FUZZ_CHECK(("/" + *cleaned + "/").find("/../") == std::string::npos);
  FUZZ_CHECK(CleanedRelativePath(*cleaned) == cleaned);
}

void FuzzText(std::string_view text) {
  const std::string quoted = Quoted(text);
  FUZZ_CHECK(IsValidUtf8(quoted));
  FUZZ_CHECK(quoted.size() <= 4 * 204 + 5);
  const std::string_view trimmed = Trimmed(text);
  FUZZ_CHECK(Trimmed(trimmed) == trimmed);
  FUZZ_CHECK(trimmed.empty() || text.find(trimmed) != std::string_view::npos);
  if (IsIdentifier(text)) FUZZ_CHECK(IsValidUtf8(text));
  if (IsWord(text)) FUZZ_CHECK(IsValidUtf8(text) && trimmed == text);
  if (IsAscii(text)) FUZZ_CHECK(IsValidUtf8(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  switch (data[0]) {
    case 'm':
      FuzzManifest(text);
      break;
    case 'f':
      FuzzFolderName(text);
      break;
    case 'v':
      FuzzVersions(text);
      break;
    case 'p':
      FuzzPath(text);
      break;
    case 't':
      FuzzText(text);
      break;
  }
  return 0;
}
