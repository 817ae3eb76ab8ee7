// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// Returns this user as people know them: "video (uid 1000)", or "uid 1000" for
// a uid without a name.
std::string DescribeUser();

// Returns the sentence that says that this user has no running application, and
// how to see another user's.
std::string DescribeNoApplication();

}  // namespace bulkhead::cli
