// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/list.h>

#include <string>
#include <vector>

namespace bulkhead {

// Returns copies of the texts in a list of a Cap'n Proto message.
inline std::vector<std::string> ToStrings(
    capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> strings;
  for (const auto text : list) strings.push_back(text.cStr());
  return strings;
}

}  // namespace bulkhead
