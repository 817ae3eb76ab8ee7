// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/explicit_load.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"

namespace bulkhead::discovery {

// Decides of which distributions too much would have to be read in all, and
// returns for each why nothing of it is read, or an empty string. Whoever costs
// least comes first, and Bulkhead's own before all: what is large, or comes in
// masses, takes nothing from the others.
std::vector<std::string> Refusals(const Scan& scan, const Selection& selection,
                                  const std::vector<ExplicitLoad>& loads);

}  // namespace bulkhead::discovery
