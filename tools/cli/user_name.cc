// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/user_name.h"

#include <pwd.h>
#include <unistd.h>

namespace bulkhead::cli {

std::string DescribeUser() {
  const uid_t uid = geteuid();
  const std::string number = "uid " + std::to_string(uid);
  const passwd* const user = getpwuid(uid);
  return user == nullptr ? number
                         : std::string(user->pw_name) + " (" + number + ")";
}

}  // namespace bulkhead::cli
