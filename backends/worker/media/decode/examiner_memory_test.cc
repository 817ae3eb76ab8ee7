// SPDX-License-Identifier: Apache-2.0
//
// What an Examiner says of memory. It asks malloc() of glibc; a sanitizer's
// counts nothing.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/worker/media/decode/examiner.h"

namespace bulkhead::worker::decode {
namespace {

TEST(ExaminerMemory, WhatEachOpenLosesIsFound) {
  constexpr int kOpens = 20 * 10;
  std::vector<std::unique_ptr<char[]>> lost;
  for (const bool leaks : {false, true}) {
    Examiner::Options options = {{"bulkhead.weigh-opens", "10"}};
    const auto examiner = Examiner::TakeFrom(options);
    ASSERT_TRUE(examiner && *examiner);
    std::string message;
    for (int i = 0; i < kOpens; ++i) {
      const auto opens = (*examiner)->Opens();
      if (!opens) message += opens.error().message;
      if (leaks) lost.push_back(std::make_unique<char[]>(64));
    }
    EXPECT_EQ(message.find("clause close-1") != std::string::npos, leaks)
        << message;
  }
}

}  // namespace
}  // namespace bulkhead::worker::decode
