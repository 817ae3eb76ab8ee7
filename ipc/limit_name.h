// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace bulkhead::ipc {

// The names by which an error message calls a limit, so that the reader can
// raise the limit in C++ and on the command line. `member` is the name of a
// member of bulkhead::Limits or bulkhead::Deadlines:
//
//     LimitOption("packet_bytes") == "packet-bytes"
//     LimitName("packet_bytes")
//         == "Limits::packet_bytes (--limit packet-bytes=N)"
//     DeadlineName("scan") == "Deadlines::scan (--limit scan-ms=N)"
inline std::string LimitOption(std::string_view member) {
  std::string option(member);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

inline std::string LimitName(std::string_view member) {
  return "Limits::" + std::string(member) + " (--limit " + LimitOption(member) +
         "=N)";
}

inline std::string DeadlineName(std::string_view member) {
  return "Deadlines::" + std::string(member) + " (--limit " +
         LimitOption(member) + "-ms=N)";
}

}  // namespace bulkhead::ipc
