// SPDX-License-Identifier: Apache-2.0
//
// The examples in the comments of the public headers, compiled. What an example
// takes for granted is below, under the names that the examples use.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/crashes.h"
#include "bulkhead/entry_point.h"
#include "bulkhead/frame_mapping.h"
#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "bulkhead/samplers.h"

namespace bulkhead {
namespace {

[[maybe_unused]] void Show(const auto&) {}
[[maybe_unused]] void Use(const auto&) {}

// The names that an example takes for granted.
struct Surroundings {
  Host* host;
  VideoDecoder& decoder;
  VideoOptions& options;
  EntryPoints all;
  Status status;
  std::string upload;
  std::vector<std::byte> bytes;
  std::vector<int64_t> indices;
  size_t width;
  size_t height;
  uint64_t seed;
};

#include "tests/docs/header_examples.inc"

TEST(PublicHeaders, ExamplesCompile) {
  // Fewer than were written: the examples are not found any more.
  EXPECT_GE(kExamples, 15);
}

}  // namespace
}  // namespace bulkhead
