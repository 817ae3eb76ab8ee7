// SPDX-License-Identifier: Apache-2.0
//
// The examples of core/application/README.md, compiled and run one after the
// other in one function.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/samplers.h"
#include "tests/docs/workplace.h"

namespace bulkhead::tests {
namespace {

Host& TestHost() {
  static const std::unique_ptr<Host> host = Host::Create({}).value();
  return *host;
}

std::vector<std::byte> ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

std::string Output(const std::string& command) {
  const auto result = RunProgram({"sh", "-c", command});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  return result.output;
}

void Expect(bool holds, const std::source_location where =
                            std::source_location::current()) {
  if (!holds) {
    ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
        << "does not hold";
  }
}

TEST(ApplicationReadme, ExamplesRun) {
  const Workplace workplace("work");
  ASSERT_EQ(chdir(workplace.path().c_str()), 0);
#include "tests/docs/application_examples.inc"
}

}  // namespace
}  // namespace bulkhead::tests
