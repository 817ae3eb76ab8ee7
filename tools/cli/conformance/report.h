// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/application/writers/output.h"
#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// Returns the lines about one finding, for people.
std::string DescribeFinding(const Finding& finding);
// Returns the lines about the backend, which precede the findings.
std::string DescribeSubject(const Subject& subject);
// Returns the last line of the report: "18 passed, 1 failed, 3 not tried".
std::string Summarize(const std::vector<Finding>& findings);

// Returns the report for --json.
nlohmann::ordered_json FactsOf(const Subject& subject,
                               const std::vector<Finding>& findings);

// Writes the findings as JUnit XML, which continuous integration systems read,
// and closes the output.
Status WriteJunit(const Subject& subject, const std::vector<Finding>& findings,
                  writers::Output& output);

}  // namespace bulkhead::cli::conformance
