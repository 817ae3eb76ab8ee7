// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/backend_failure.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::worker::decode {
namespace {

bulkhead_backend Table() {
  bulkhead_backend table{};
  table.name = "vendor";
  table.last_error = [](bulkhead_decoder* decoder) {
    return decoder == nullptr ? "it did not open" : "";
  };
  return table;
}

TEST(BackendFailure, NamesTheBackendTheCallAndTheProblem) {
  const ipc::Error error =
      FailureOf(Table(), nullptr, {}, "open", BULKHEAD_DEVICE_LOST);
  EXPECT_EQ(error.code, ipc::Code::kBackendLost);
  EXPECT_EQ(error.message,
            "vendor: open: device lost; the backend says: \"it did not open\"");
}

TEST(BackendFailure, NothingIsQuotedOfABackendThatSaysNothing) {
  int decoder = 0;
  EXPECT_EQ(FailureOf(Table(), reinterpret_cast<bulkhead_decoder*>(&decoder),
                      {}, "send_packet", BULKHEAD_FAILED)
                .message,
            "vendor: send_packet: failed");
}

TEST(BackendFailure, AResultThatIsNoFailureIsABreach) {
  const ipc::Error error =
      FailureOf(Table(), nullptr, {}, "receive_frame", BULKHEAD_OK);
  EXPECT_EQ(error.code, ipc::Code::kBackendMisbehaved);
  EXPECT_NE(error.message.find("receive_frame returned 0"), std::string::npos)
      << error.message;
}

}  // namespace
}  // namespace bulkhead::worker::decode
