// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/explicit_load.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"

namespace bulkhead::discovery {

// Decides of which distributions too much would have to be read in all, and
// returns for each why nothing of it is read, or an empty string. Bulkhead's
// own come before all. Half of each bound is for those that cost least, and
// half for those that were installed first, so neither large packages nor
// masses of small ones take what others had.
std::vector<std::string> Refusals(const Scan& scan, const Selection& selection,
                                  const std::vector<ExplicitLoad>& loads);

}  // namespace bulkhead::discovery
