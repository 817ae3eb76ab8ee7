// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// Returns the JSON of a crash: the format of the file in the state directory
// and of the output for scripts. Names are the C++ members'; unknown
// values are null. A path or an option that is not UTF-8 becomes {"hex":
// "..."}, so that a reader can restore the exact bytes. The text that the
// process wrote itself is in an object `claimed`.
nlohmann::ordered_json ToJson(const Crash& crash);
// Returns the JSON of a crash for readers who must not have parts of the media:
// `media_log` is null, and so is `claimed` if Crash::had_media; a claimed cause
// ends before what the process said. A hostile
// backend is left the exit status and a system call's number: some bytes for
// each crash.
nlohmann::ordered_json ToJsonWithoutMediaText(const Crash& crash);

// Returns the JSON as text of at most `max_bytes` if possible. If it is longer,
// first the options and transforms of the request are left out, then the logs
// and the backtrace.
std::string ToText(Crash crash, size_t max_bytes);

// Parses a record. Fails with kBadInput if the text is no record. Missing
// members keep the values of a new Crash, and texts are made safe for a
// terminal, whatever the file holds. A record without `media_log` is older than
// that member, so its log counts as written with media.
Result<Crash> ParseCrash(const std::string& text_untrusted);

// Returns "start", "open", "scan", "next" or "frame-at". Static storage.
const char* NameOf(Crash::Request::Kind kind);
// Returns "exited", "signaled", "out-of-memory" and so on. Static storage.
const char* NameOf(ExitReport::Kind kind);
// Returns "error", "skip", "nearest" or "show". Static storage.
const char* NameOf(OnCorrupt on_corrupt);

}  // namespace bulkhead::crashes
