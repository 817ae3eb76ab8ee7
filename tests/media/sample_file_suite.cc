// SPDX-License-Identifier: Apache-2.0
#include "tests/media/sample_file_suite.h"

#include <utility>

#include "tests/support/test_paths.h"

namespace bulkhead::tests {

Host* SampleFileSuite::host_ = nullptr;

void SampleFileSuite::SetUpTestSuite() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  host_ = Host::Create(options).value().release();
}

void SampleFileSuite::TearDownTestSuite() {
  delete std::exchange(host_, nullptr);
}

}  // namespace bulkhead::tests
