// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/explicit_load.h"
#include "core/discovery/scan.h"
#include "core/discovery/selection.h"

namespace bulkhead::discovery {

// Keeps the reading of all distributions' files within the bounds of
// discover.h. Returns, for each distribution of `scan`, the reason why its
// files are not read, or an empty string. Bulkhead's own distributions come
// first. Half of each bound is for the distributions that cost least to read,
// and half for the ones that were installed first. So a later installation of
// large packages, or of many small ones, cannot displace the earlier packages.
std::vector<std::string> Refusals(const Scan& scan, const Selection& selection,
                                  const std::vector<ExplicitLoad>& loads);

}  // namespace bulkhead::discovery
