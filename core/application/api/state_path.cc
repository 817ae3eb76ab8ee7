// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/state_path.h"

namespace bulkhead {

Result<std::string> ResolveStatePath(const Environment& environment,
                                     const std::optional<std::string>& option,
                                     bool root) {
  constexpr const char* kVariable = "BULKHEAD_STATE_DIR";
  if (const auto chosen = option ? option : environment.Get(kVariable)) {
    if (chosen->empty() || chosen->starts_with('/')) return *chosen;
    return Status(Code::kInvalidArgument,
                  std::string(option ? "option state_directory" : kVariable) +
                      " is \"" + *chosen + "\"; write it as an absolute path");
  }
  if (root) return std::string("/var/lib/bulkhead");
  // The XDG specification requires that a relative path is ignored.
  const std::string state = environment.Get("XDG_STATE_HOME").value_or("");
  if (state.starts_with('/')) return state + "/bulkhead";
  const std::string home = environment.Get("HOME").value_or("");
  return home.starts_with('/') ? home + "/.local/state/bulkhead" : "";
}

}  // namespace bulkhead
