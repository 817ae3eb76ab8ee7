// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string_view>

namespace bulkhead::discovery {

// Compares versions by the order that PEP 440 defines: 1.0.dev1 < 1.0a1 <
// 1.0rc1 < 1.0 == 1.0.0 < 1.0+local < 1.0.post1 < 1!0.1. Numbers may have any
// length. Texts that PEP 440 does not accept come below all versions, in byte
// order. Never fails. Thread-safe.
std::weak_ordering CompareVersions(std::string_view left_untrusted,
                                   std::string_view right_untrusted);

}  // namespace bulkhead::discovery
