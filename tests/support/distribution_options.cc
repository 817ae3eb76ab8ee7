// SPDX-License-Identifier: Apache-2.0
#include "tests/support/distribution_options.h"

#include "tests/support/test_paths.h"

namespace bulkhead::tests {

HostOptions DistributionOptions() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_path = {DistributionDirectory()};
  options.autoload = true;
  options.grants = GrantsOfReservedNames();
  return options;
}

}  // namespace bulkhead::tests
