// SPDX-License-Identifier: Apache-2.0
#include "core/base/device_name.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "core/base/text.h"

namespace bulkhead {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr uint32_t kMaxIndex = 65535;

std::optional<uint32_t> ParseIndex(std::string_view text) {
  uint32_t index = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (error != std::errc() || stop != end || index > kMaxIndex ||
      (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  return index;
}

}  // namespace

std::string DeviceName::ToString() const {
  std::string text = backend.empty() ? name : backend + "/" + name;
  if (index) text += ":" + std::to_string(*index);
  return text;
}

bool IsPlainName(std::string_view text_untrusted) {
  return !text_untrusted.empty() && text_untrusted.size() <= kMaxNameBytes &&
         text_untrusted.front() != '.' && text_untrusted.front() != '-' &&
         std::all_of(text_untrusted.begin(), text_untrusted.end(), [](char c) {
           return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_' || c == '-' ||
                  c == '.';
         });
}

Result<DeviceName> ParseDeviceName(std::string_view text_untrusted) {
  const Status invalid(Code::kInvalidArgument,
                       Quoted(text_untrusted) +
                           " is not a device: write NAME, NAME:INDEX or "
                           "BACKEND/NAME:INDEX, for instance cpu");
  DeviceName device;
  std::string_view rest = text_untrusted;
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    device.backend = rest.substr(0, slash);
    if (!IsPlainName(device.backend)) return invalid;
    rest.remove_prefix(slash + 1);
  }
  const size_t colon = rest.find(':');
  device.name = rest.substr(0, colon);
  if (!IsPlainName(device.name)) return invalid;
  if (colon != std::string_view::npos) {
    device.index = ParseIndex(rest.substr(colon + 1));
    if (!device.index) return invalid;
  }
  return device;
}

}  // namespace bulkhead
