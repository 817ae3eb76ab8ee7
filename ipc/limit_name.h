// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bulkhead::ipc {

// Names of limits in messages. A name has both the member of bulkhead::Limits
// or bulkhead::Deadlines and the option of the command line, so that every
// reader can raise the limit.
//
//     LimitOption("packet_bytes") == "packet-bytes"
//     LimitName("packet_bytes")
//         == "the limit packet_bytes (--limit packet-bytes=N)"
//     DeadlineName("scan") == "the deadline scan (--limit scan-ms=N)"
//
// A message that has kLimitMark names a limit already.
inline constexpr char kLimitMark[] = "(--limit ";

inline std::string LimitOption(std::string_view member) {
  std::string option(member);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

inline std::string LimitName(std::string_view member) {
  return "the limit " + std::string(member) + " " + kLimitMark +
         LimitOption(member) + "=N)";
}

inline std::string DeadlineName(std::string_view member) {
  return "the deadline " + std::string(member) + " " + kLimitMark +
         LimitOption(member) + "-ms=N)";
}

}  // namespace bulkhead::ipc
