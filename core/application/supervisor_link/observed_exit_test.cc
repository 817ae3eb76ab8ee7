// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/observed_exit.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::supervisor_link {
namespace {

Crash::Request RequestOf(const VideoOptions& options) {
  Crash::Request request;
  SetOptions(options, request);
  return request;
}

TEST(SetOptionsTest, BackendOptionsAboveTheLimitAreLeftOut) {
  VideoOptions options;
  options.backend_options = {{"k", std::string(kMaxOptionBytes - 1, 'v')}};
  EXPECT_TRUE(RequestOf(options).complete);
  EXPECT_EQ(RequestOf(options).backend_options, options.backend_options);
  options.backend_options.emplace_back("l", "");
  EXPECT_FALSE(RequestOf(options).complete);
  EXPECT_TRUE(RequestOf(options).backend_options.empty());
}

TEST(SetOptionsTest, TransformsAboveTheLimitAreLeftOut) {
  VideoOptions options;
  options.transforms.assign(kMaxTransforms, Resize{});
  EXPECT_TRUE(RequestOf(options).complete);
  EXPECT_EQ(RequestOf(options).transforms.size(), kMaxTransforms);
  options.transforms.push_back(Resize{});
  EXPECT_FALSE(RequestOf(options).complete);
  EXPECT_TRUE(RequestOf(options).transforms.empty());
}

}  // namespace
}  // namespace bulkhead::supervisor_link
