// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/frame_mapping.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace bulkhead {
namespace {

using Json = nlohmann::json;

Status Wrong(const std::string& what) {
  return Status(Code::kInvalidArgument, "the frame mappings " + what);
}

// Returns the integer in `value`, which may be a boolean or a string: ffprobe
// prints some integers as strings.
std::optional<int64_t> Integer(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_string()) return std::nullopt;
  const Json inner =
      Json::parse(value.get_ref<const std::string&>(), nullptr, false);
  if (!inner.is_number_integer()) return std::nullopt;
  return inner.get<int64_t>();
}

// Returns the beginning of a value for a message, in ASCII, which can be cut
// anywhere. Only names a list or an object: writing one out recurses as deep as
// it is nested.
std::string Shown(const Json& value) {
  if (value.is_structured()) return value.type_name();
  return value.dump(-1, ' ', true, Json::error_handler_t::replace)
      .substr(0, 40);
}

// Returns the value of the first of `keys` that the frame has.
Result<int64_t> Member(const Json& frame, size_t number,
                       std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto found = frame.find(key);
    if (found == frame.end()) continue;
    if (const auto value = Integer(*found)) return *value;
    return Wrong("have in frame " + std::to_string(number) + " a " + key +
                 " that is not a whole number: " + Shown(*found));
  }
  return Wrong("have no " + std::string(*keys.begin()) + " in frame " +
               std::to_string(number));
}

}  // namespace

Result<std::vector<FrameMapping>> ParseFrameMappings(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (document.is_discarded()) return Wrong("are not JSON");
  if (!document.is_object() || !document.contains("frames") ||
      !document["frames"].is_array()) {
    return Wrong("have no list \"frames\"");
  }
  std::vector<FrameMapping> mappings;
  for (const Json& frame : document["frames"]) {
    const size_t number = mappings.size();
    if (!frame.is_object()) {
      return Wrong("have as frame " + std::to_string(number) +
                   " something that is not an object");
    }
    const auto pts = Member(frame, number, {"pts", "pkt_pts"});
    if (!pts) return pts.error();
    const auto duration = Member(frame, number, {"duration", "pkt_duration"});
    if (!duration) return duration.error();
    const auto key = Member(frame, number, {"key_frame"});
    if (!key) return key.error();
    mappings.push_back({*pts, *duration, *key != 0});
  }
  if (mappings.empty()) return Wrong("have no frames");
  return mappings;
}

}  // namespace bulkhead
