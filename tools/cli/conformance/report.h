// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/subject.h"
#include "tools/cli/output.h"

namespace bulkhead::cli {

// Returns the lines about one finding, for people.
std::string DescribeFinding(const Finding& finding);
// Returns the lines about the backend that go before the findings.
std::string DescribeSubject(const Subject& subject);
// Returns the line that goes after them: "18 passed, 1 failed, 3 not tried".
std::string Summarize(const std::vector<Finding>& findings);

nlohmann::ordered_json FactsOf(const Subject& subject,
                               const std::vector<Finding>& findings);

// Writes the findings as the XML of JUnit, which continuous integration reads,
// and closes the output.
Status WriteJunit(const Subject& subject, const std::vector<Finding>& findings,
                  Output& output);

}  // namespace bulkhead::cli
