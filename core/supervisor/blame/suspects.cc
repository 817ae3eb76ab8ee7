// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/suspects.h"

namespace bulkhead::blame {

bool Suspects::Died(const std::string& input) {
  if (inputs_.size() < kTooMany) inputs_.insert(input);
  if (inputs_.size() < kTooMany || on_trial_) return false;
  on_trial_ = true;
  return true;
}

void Suspects::Acquit() {
  inputs_.clear();
  convicted_ = false;
}

void Suspects::Judge(bool works) {
  on_trial_ = false;
  convicted_ = !works && inputs_.size() >= kTooMany;
  inputs_.clear();
}

}  // namespace bulkhead::blame
