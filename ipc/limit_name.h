// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bulkhead::ipc {

// These functions name a limit in a message so that every reader can raise the
// limit: by the member of bulkhead::Limits or bulkhead::Deadlines, and by the
// option of the command line, which is LimitOption(member).
//
//     LimitOption("packet_bytes") == "packet-bytes"
//     LimitName("packet_bytes")
//         == "the limit packet_bytes (--limit packet-bytes=N)"
//     DeadlineName("scan") == "the deadline scan (--limit scan-ms=N)"
inline std::string LimitOption(std::string_view member) {
  std::string option(member);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

inline std::string LimitName(std::string_view member) {
  return "the limit " + std::string(member) + " (--limit " +
         LimitOption(member) + "=N)";
}

inline std::string DeadlineName(std::string_view member) {
  return "the deadline " + std::string(member) + " (--limit " +
         LimitOption(member) + "-ms=N)";
}

}  // namespace bulkhead::ipc
