// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/stream_opening.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/worker_protocol/allowed_media.h"
#include "ipc/region_header.h"

namespace bulkhead::worker_protocol {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

// The number of words that output_options.cc needs for the most transforms.
constexpr size_t kMostOutputWords = 520;

TEST(StreamOpeningTest, TheLargestRequestFitsARecord) {
  const Options options(32, {"k", std::string(255, 'v')});
  ASSERT_TRUE(ValidateBackendOptions(options).ok());
  const std::vector<std::string> names(256, std::string(8, 'x'));
  const AllowedMedia allowed{.containers = names, .codecs = names};
  ASSERT_TRUE(ValidateAllowed(allowed).ok());
  const Limits limits;
  const StreamOpening opening{.kind = ipc::schema::StreamKind::VIDEO,
                              .threads = 0,
                              .backend_options = options,
                              .name_hint = std::string(255, 'n'),
                              .limits = limits,
                              .allowed = allowed};
  EXPECT_LE(OpeningWords(opening) + kMostOutputWords,
            ipc::RingGeometry::kMaxMessageWords);
  capnp::MallocMessageBuilder message;
  WriteOpening(opening, message.initRoot<ipc::schema::Request>().initOpen());
  EXPECT_LE(message.sizeInWords(), OpeningWords(opening));
}

TEST(StreamOpeningTest, OptionsThatNoRequestHasRoomForAreTheCallers) {
  for (const Options& options :
       {Options{{"k", std::string(70'000, 'v')}}, Options(33, {"k", "v"})}) {
    const Status status = ValidateBackendOptions(options);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("--option"), std::string::npos) << status;
    EXPECT_NE(status.message().find("at most 32 with 8192 bytes"),
              std::string::npos)
        << status;
  }
}

}  // namespace
}  // namespace bulkhead::worker_protocol
