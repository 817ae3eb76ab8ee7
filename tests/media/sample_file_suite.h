// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "bulkhead/host.h"
#include "tests/media/sample_files.h"

namespace bulkhead::tests {

// A fixture for a test suite that runs once for each of many files. All of its
// tests share one host, since each host starts a bulkheadd.
class SampleFileSuite : public testing::TestWithParam<SampleFile> {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  static Host& host() { return *host_; }

 private:
  static Host* host_;
};

}  // namespace bulkhead::tests
