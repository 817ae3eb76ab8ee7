// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/include/bulkhead/crashes.h"

namespace bulkhead::crashes {

// Returns the crash as JSON. The files in the state directory and the output
// for scripts have this format. Names are the names of the C++ members; unknown
// values are null. A path or an option that is not UTF-8 becomes {"hex":
// "..."}, so that a reader can restore the exact bytes. Text that the dead
// process itself has written is in an object `claimed`.
nlohmann::ordered_json ToJson(const Crash& crash);
// Returns the crash as JSON for readers who must not see any part of the media.
// `media_log` is null. If the process had media (Crash::had_media), `claimed`
// is null too, and a cause that the process claims is cut at its first colon. A
// hostile backend can still put some bytes of the media into the exit status
// and the number of a system call.
nlohmann::ordered_json ToJsonWithoutMediaText(const Crash& crash);

// Returns the JSON as text. If the text is longer than `max_bytes`, leaves out
// the options and transforms of the request first, then the logs and the
// backtrace. The text may still be longer after that.
std::string ToText(Crash crash, size_t max_bytes);

// Parses a record. Returns kBadInput if the text is no record. Members that are
// missing keep the values of a new Crash. Texts are made safe for a terminal,
// whatever the file holds. An old record has no member `media_log`; its `log`
// is then taken as written after the backend had media.
Result<Crash> ParseCrash(const std::string& text_untrusted);

// Returns "start", "open", "scan", "next" or "frame-at". Static storage.
const char* NameOf(Crash::Request::Kind kind);
// Returns "exited", "signaled", "out-of-memory" and so on. Static storage.
const char* NameOf(ExitReport::Kind kind);
// Returns "error", "skip", "nearest" or "show". Static storage.
const char* NameOf(OnCorrupt on_corrupt);

}  // namespace bulkhead::crashes
