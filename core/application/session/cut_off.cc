// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/cut_off.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace bulkhead::session {
namespace {

struct Container {
  std::string_view name;
  std::string_view size;      // the field that states the size of the file
  std::string_view duration;  // the field with the duration; empty: none
};

constexpr Container kContainers[] = {
    {"matroska,webm", "the size of its segment", "Duration"},
    {"avi", "its RIFF header", "avih, strh"},
    {"wav", "its data chunk", ""},
    {"mov,mp4,m4a,3gp,3g2,mj2", "the size of its last box", ""}};

const Container* Find(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kContainers), std::end(kContainers),
                   [&name](const auto& known) { return known.name == name; });
  return found == std::end(kContainers) ? nullptr : found;
}

}  // namespace

std::string SizesOfCut(const std::string& container, int64_t declared,
                       int64_t bytes) {
  std::string text = "it needs " + std::to_string(declared) +
                     " bytes and has " + std::to_string(bytes);
  const Container* const known = Find(container);
  if (known != nullptr) text.append(", by ").append(known->size);
  return text;
}

std::string Shortened(int64_t bytes, int64_t lost_bytes) {
  if (lost_bytes <= 0) return "";
  return "; the file has become shorter since it was opened, from " +
         std::to_string(bytes) + " to " + std::to_string(bytes - lost_bytes) +
         " bytes";
}

std::string DurationOfCut(const std::string& container,
                          const StreamTiming& timing) {
  const Container* const known = Find(container);
  std::optional<double> seconds = timing.duration_seconds_from_header;
  if (!seconds && !timing.end_seconds_from_content) {
    seconds = timing.duration_seconds;
  }
  if (known == nullptr || known->duration.empty() || !seconds) return "";
  return std::string("; its header (").append(known->duration) + ") says " +
         std::to_string(*seconds) + " s";
}

}  // namespace bulkhead::session
