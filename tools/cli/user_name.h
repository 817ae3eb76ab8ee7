// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// Returns the name and the uid of this user: "video (uid 1000)", or "uid 1000"
// for a uid without a name.
std::string DescribeUser();

// Returns a sentence that says that this user has no running application, and
// how to see applications of other users.
std::string DescribeNoApplication();

}  // namespace bulkhead::cli
