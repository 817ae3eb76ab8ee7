// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

namespace bulkhead::tests {

// Looks until `holds` does, every 20 ms; returns false if it does not within
// `limit`. For what another program brings about and reports to nobody, such as
// the socket of a server. What can be waited for by a descriptor is waited for
// so.
bool Await(const std::function<bool()>& holds, std::chrono::milliseconds limit);

}  // namespace bulkhead::tests
