// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/grants/permissions.h"
#include "tests/fuzz/check.h"

// Checks permissions that a parser accepted: AddPermission() accepts them too,
// and none of them allows writing or leaves its directory.
inline void CheckPermissions(const bulkhead::grants::Permissions& taken) {
  bulkhead::grants::Permissions again;
  for (const std::string& text : bulkhead::grants::ToTexts(taken)) {
    FUZZ_CHECK(!text.starts_with("write"));
    FUZZ_CHECK(text.find("/../") == std::string::npos);
    FUZZ_CHECK(bulkhead::grants::AddPermission(text, again).ok());
  }
  FUZZ_CHECK(again == taken);
}
