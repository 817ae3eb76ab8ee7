// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/output.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace bulkhead::writers {
namespace {

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Output, MakesParentsAndKeepsOrderOfSmallAndLargeWrites) {
  const std::string path = testing::TempDir() + "/output/a/b.bin";
  std::filesystem::remove_all(testing::TempDir() + "/output");
  auto output = Output::Open(path).value();
  const std::string large(200'000, 'x');
  EXPECT_TRUE(output->Write("head").ok());
  EXPECT_TRUE(output->Write(large).ok());
  EXPECT_TRUE(output->Write("tail").ok());
  EXPECT_TRUE(output->Close().ok());
  EXPECT_EQ(ReadFile(path), "head" + large + "tail");
}

TEST(Output, BytesOfAClosedFileAreOverwritten) {
  const std::string path = testing::TempDir() + "/output_overwritten";
  auto output = Output::Open(path).value();
  EXPECT_TRUE(output->Write("0123456789").ok());
  EXPECT_TRUE(output->Close().ok());
  EXPECT_TRUE(output->overwritable());
  EXPECT_TRUE(output->Overwrite(4, "ab").ok());
  EXPECT_FALSE(output->failed());
  EXPECT_EQ(ReadFile(path), "0123ab6789");
  EXPECT_FALSE(Output::Open("-").value()->overwritable());
  EXPECT_FALSE(Output::Open("/dev/full").value()->overwritable());
}

TEST(Output, SaysWhichFileCannotBeMade) {
  const Result<std::unique_ptr<Output>> output =
      Output::Open("/proc/none/of/this");
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().code(), Code::kInvalidArgument);
  EXPECT_NE(output.error().message().find("/proc/none"), std::string::npos);
}

TEST(Output, FullDiskIsAnErrorAtClose) {
  auto output = Output::Open("/dev/full").value();
  EXPECT_TRUE(output->Write("x").ok());
  EXPECT_FALSE(output->failed());
  EXPECT_FALSE(output->Close().ok());
  EXPECT_TRUE(output->failed());
  EXPECT_FALSE(output->reader_gone());
}

TEST(Output, ReaderThatLeftIsToldApart) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  auto output =
      Output::Open("/proc/self/fd/" + std::to_string(ends[1])).value();
  close(ends[0]);
  close(ends[1]);
  EXPECT_TRUE(output->Write("x").ok());
  EXPECT_FALSE(output->Close().ok());
  EXPECT_TRUE(output->reader_gone());
  signal(SIGPIPE, before);
}

}  // namespace
}  // namespace bulkhead::writers
