// SPDX-License-Identifier: Apache-2.0
#include "tests/media/required_clip.h"

#include <gtest/gtest.h>

#include "bulkhead/status.h"

namespace bulkhead::tests {
namespace {

// GTEST_SKIP and FAIL return from the function, which must be void.
void SkipOrFail(const Status& status) {
  if (status.code() == Code::kNotFound) GTEST_SKIP() << status;
  FAIL() << status;
}

}  // namespace

std::string ClipOrSkip(Clip clip) {
  const auto path = Generate(clip);
  if (path) return *path;
  SkipOrFail(path.error());
  return "";
}

}  // namespace bulkhead::tests
