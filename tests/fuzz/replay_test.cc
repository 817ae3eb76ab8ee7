// SPDX-License-Identifier: Apache-2.0
//
// Gives each file of the corpus to the fuzzer that this is linked with.
// BULKHEAD_TEST_CORPUS has their paths.

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
    // A finding ends the process: say before which file it was.
    std::fprintf(stderr, "%s\n", path.c_str());
    // Not a byte more than there is, so that reading beyond is found.
    bytes.shrink_to_fit();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                           bytes.size());
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
