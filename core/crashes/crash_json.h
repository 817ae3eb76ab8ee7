// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// How a Crash is written: as a file of the state directory, and for scripts.
// Names are those of the C++ members; what is not known is null. A path or an
// option that is not UTF-8 is {"hex": "…"}, so that it can still be opened.
// What the worker said itself is in an object `claimed`.
nlohmann::ordered_json ToJson(const Crash& crash);

// At most `max_bytes`: a request loses its options first, then goes what the
// process said of itself.
std::string ToText(Crash crash, size_t max_bytes);

// kBadInput: it is no record. Members that are missing are as in a new Crash,
// and words are made fit for a terminal, whatever was in the file.
Result<Crash> ParseCrash(const std::string& text_untrusted);

// "start", "open", "scan", "next", "frame-at".
const char* NameOf(Crash::Request::Kind kind);

}  // namespace bulkhead::crashes
