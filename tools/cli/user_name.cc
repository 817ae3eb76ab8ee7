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

std::string DescribeNoApplication() {
  return "no application of " + DescribeUser() +
         " uses Bulkhead now; those of other users are not looked at, which "
         "root can do by `runuser -u USER -- bulkhead ps`";
}

}  // namespace bulkhead::cli
