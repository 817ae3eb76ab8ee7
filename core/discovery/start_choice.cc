// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/start_choice.h"

#include <utility>

#include "core/base/text.h"

namespace bulkhead::discovery {

StartChoice ChooseStart(const std::string& backend, const Manifest& manifest,
                        const Selection& selection) {
  StartChoice choice;
  if (auto rule = selection.RuleForExec(backend)) {
    choice.rule = "required by " + *std::move(rule);
  } else if (manifest.start == Manifest::Start::kExec) {
    choice.rule = "its manifest asks for it";
  } else {
    return choice;
  }
  choice.start = Manifest::Start::kExec;
  if (manifest.worker_scope == Manifest::WorkerScope::kBackend) {
    choice.warning =
        "the sessions of the backend " + backend +
        " share no worker, although its manifest says worker_scope = "
        "\"backend\": each session loads the backend anew (start = \"exec\", " +
        choice.rule + ")";
  }
  return choice;
}

void WarnOfUnknownNames(const Selection& selection,
                        const std::vector<std::string>& names,
                        Diagnostics& diagnostics) {
  for (const std::string& glob : selection.ExecWithout(names)) {
    diagnostics.push_back({Diagnostic::Severity::kWarning, "", 0,
                           "there is no backend " + Quoted(glob) + ", which " +
                               selection.exec_rule + " names"});
  }
}

}  // namespace bulkhead::discovery
