// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/status.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Status(Code::kInvalidArgument, "odd");
  return number / 2;
}

Result<std::string> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return std::to_string(quarter);
}

Status Check(int number) {
  RETURN_IF_ERROR(Half(number).error());
  return Status();
}

TEST(StatusTest, OkIsANullState) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.exit_report(), nullptr);
  EXPECT_EQ(status.ToString(), "ok");
  EXPECT_TRUE(Status(Code::kOk, "dropped").ok());
  EXPECT_TRUE(status.WithContext("x").ok());
}

TEST(StatusTest, AFailureKeepsItsExitReportThroughCopiesAndContext) {
  ExitReport report;
  report.backend = "cpu";
  report.kind = ExitReport::Kind::kSignaled;
  report.value = 11;
  const Status status =
      Status(Code::kBackendLost, "died", report).WithContext("a.mp4");
  const Status copy = status;
  EXPECT_EQ(copy.ToString(), "kBackendLost: a.mp4: died");
  ASSERT_NE(copy.exit_report(), nullptr);
  EXPECT_EQ(copy.exit_report()->value, 11);
}

TEST(ResultTest, CarriesAValueOrTheError) {
  EXPECT_EQ(*Half(4), 2);
  EXPECT_EQ(Half(4).value(), 2);
  EXPECT_FALSE(Half(3).has_value());
  EXPECT_EQ(Half(3).error().message(), "odd");
  EXPECT_EQ(Half(3).value_or(9), 9);
  const Result<std::string> text = "literal";
  EXPECT_EQ(text->size(), 7u);
}

TEST(ResultTest, ValueThrowsTheStatus) {
  try {
    (void)Half(3).value();
    FAIL() << "no exception";
  } catch (const StatusError& error) {
    EXPECT_EQ(error.status().code(), Code::kInvalidArgument);
    EXPECT_STREQ(error.what(), "kInvalidArgument: odd");
  }
}

TEST(ResultTest, ValueOfAResultThatIsKeptThrowsToo) {
  Result<int> odd = Half(3);
  EXPECT_THROW((void)odd.value(), StatusError);
  EXPECT_THROW((void)std::as_const(odd).value(), StatusError);
  Result<int> even = Half(4);
  EXPECT_EQ(even.value(), 2);
  EXPECT_EQ(std::as_const(even).value(), 2);
}

TEST(ResultTest, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 3);
}

TEST(ResultTest, AnOkStatusIsNoError) {
  const Result<int> result = Status();
  EXPECT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), Code::kInternal);
}

TEST(StatusMacrosTest, HandTheFirstFailureToTheCaller) {
  EXPECT_EQ(Quarter(12).value(), "3");
  EXPECT_EQ(Quarter(6).error().message(), "odd");
  EXPECT_TRUE(Check(2).ok());
  EXPECT_FALSE(Check(3).ok());
}

TEST(CodeTest, ExitCodesFollowTheTable) {
  EXPECT_EQ(ExitCodeFor(Code::kOk), 0);
  EXPECT_EQ(ExitCodeFor(Code::kInternal), 1);
  EXPECT_EQ(ExitCodeFor(Code::kOutOfRange), 2);
  EXPECT_EQ(ExitCodeFor(Code::kUnsupported), 3);
  EXPECT_EQ(ExitCodeFor(Code::kResourceExhausted), 4);
  EXPECT_EQ(ExitCodeFor(Code::kSandboxUnavailable), 5);
  EXPECT_EQ(ExitCodeFor(Code::kCancelled), 130);
  EXPECT_EQ(ExitCodeFor(static_cast<Code>(999)), 1);
}

TEST(FromIpcTest, KeepsEveryCodeAndTheMessage) {
  for (int value = 0; value <= static_cast<int>(Code::kCancelled); ++value) {
    const Status status =
        FromIpc(ipc::Error{static_cast<ipc::Code>(value), "m"});
    EXPECT_EQ(static_cast<int>(status.code()), value);
    EXPECT_EQ(status.message(), "m");
  }
  EXPECT_EQ(FromIpc(static_cast<ipc::Code>(77)), Code::kInternal);
  EXPECT_EQ(*FromIpc(ipc::Expected<int>(3)), 3);
  EXPECT_TRUE(FromIpc(ipc::Expected<void>()).ok());
  const ipc::Expected<int> failed = ipc::Fail(ipc::Code::kNotFound, "gone");
  EXPECT_EQ(FromIpc(failed).error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace bulkhead
