// SPDX-License-Identifier: Apache-2.0
//
// Passes each file of the corpus to the fuzzer that this test is linked with.
// BULKHEAD_TEST_CORPUS holds the paths of the files.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/check.h"

namespace {

TEST(CorpusTest, HasNoFinding) {
  const char* corpus = std::getenv("BULKHEAD_TEST_CORPUS");
  ASSERT_NE(corpus, nullptr);
  std::istringstream paths(corpus);
  size_t files = 0;
  for (std::string path; paths >> path; ++files) {
    std::ifstream file(path, std::ios::binary);
    ASSERT_TRUE(file) << path;
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // Printed before the call, since a finding aborts the process.
    std::fprintf(stderr, "%s\n", path.c_str());
    // Without spare capacity, so that a sanitizer finds a read beyond the end.
    bytes.shrink_to_fit();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                           bytes.size());
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
