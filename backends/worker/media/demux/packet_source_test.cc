// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/packet_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "backends/worker/media/demux/demuxer.h"
#include "backends/worker/media/demux/index_scan.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::demux {
namespace {

using Packet = std::tuple<int64_t, int64_t, int64_t, uint32_t, int64_t,
                          std::vector<uint8_t>>;
using Entry = std::tuple<int64_t, int64_t, int, int>;

Packet Copy(const bulkhead_packet& packet) {
  return {packet.pts,      packet.dts,
          packet.duration, packet.flags,
          packet.position, {packet.data, packet.data + packet.bytes}};
}

std::vector<Packet> ReadAll(Demuxer& demuxer, size_t most = SIZE_MAX) {
  std::vector<Packet> packets;
  while (packets.size() < most && *demuxer.ReadPacket()) {
    packets.push_back(Copy(demuxer.packet()));
  }
  return packets;
}

std::vector<Entry> IndexBy(Demuxer& demuxer) {
  std::vector<Entry> index;
  EXPECT_TRUE(ScanIndex(demuxer, 16, [&](auto chunk) {
    for (const ipc::IndexEntry& entry : chunk) {
      index.emplace_back(entry.pts, entry.duration, entry.keyframe,
                         entry.disordered);
    }
    return ipc::Expected<void>();
  }));
  return index;
}

class PacketSourceLending : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
    path_ = TemporaryPath("clip.mp4");
    ASSERT_TRUE(
        RunFfmpeg("-f lavfi -i testsrc2=s=96x64:r=25 -f lavfi -i sine -t 4 " +
                  std::string(GetParam()) + " -g 20 '" + path_ + "'"));
  }

  std::unique_ptr<Demuxer> Open() {
    auto demuxer = OpenFile(path_, -1);
    EXPECT_TRUE(demuxer);
    return *std::move(demuxer);
  }

  std::string path_;
};

TEST_P(PacketSourceLending, TheBorrowerReadsTheWholeStream) {
  const std::vector<Packet> all = ReadAll(*Open());
  ASSERT_GT(all.size(), 70u);
  const std::vector<Entry> index = IndexBy(*Open());
  ASSERT_EQ(index.size(), all.size());
  for (const size_t before : {0, 1, 5, 31}) {
    const auto lender = Open();
    ReadAll(*lender, before);
    auto borrower = lender->Lend();
    ASSERT_NE(borrower, nullptr) << before;
    EXPECT_EQ(ReadAll(*borrower), all) << before;
    const auto other = Open();
    ReadAll(*other, before);
    borrower = other->Lend();
    ASSERT_NE(borrower, nullptr) << before;
    EXPECT_EQ(IndexBy(*borrower), index) << before;
  }
}

TEST_P(PacketSourceLending, TheLenderGoesOnWhereItWas) {
  for (const size_t before : {0, 1, 5, 31}) {
    const auto undisturbed = Open();
    ReadAll(*undisturbed, before);
    const auto lender = Open();
    ReadAll(*lender, before);
    auto borrower = lender->Lend();
    ASSERT_NE(borrower, nullptr) << before;
    ReadAll(*borrower);
    lender->TakeBack(std::move(borrower));
    const std::vector<Packet> rest = ReadAll(*undisturbed);
    EXPECT_EQ(ReadAll(*lender), rest) << before;
    EXPECT_GT(rest.size(), 40u);
  }
}

TEST_P(PacketSourceLending, TheLenderSeeksAsIfItHadNotLent) {
  const auto undisturbed = Open();
  const auto lender = Open();
  ReadAll(*lender, 3);
  ReadAll(*undisturbed, 3);
  auto borrower = lender->Lend();
  ASSERT_NE(borrower, nullptr);
  ReadAll(*borrower);
  lender->TakeBack(std::move(borrower));
  const std::vector<Entry> index = IndexBy(*Open());
  for (const size_t frame : {50, 10, 70, 0}) {
    const int64_t pts = std::get<0>(index[frame]);
    ASSERT_TRUE(undisturbed->SeekToKeyframe(pts));
    ASSERT_TRUE(lender->SeekToKeyframe(pts));
    EXPECT_EQ(lender->entry(), undisturbed->entry());
    EXPECT_EQ(ReadAll(*lender), ReadAll(*undisturbed)) << frame;
  }
  ASSERT_TRUE(undisturbed->SeekToBeginning());
  ASSERT_TRUE(lender->SeekToBeginning());
  EXPECT_EQ(ReadAll(*lender), ReadAll(*undisturbed));
}

TEST_P(PacketSourceLending, NothingIsLentOnceTheBeginningIsGone) {
  const auto many = Open();
  ReadAll(*many, 33);
  EXPECT_EQ(many->Lend(), nullptr);
  const auto sought = Open();
  ASSERT_TRUE(sought->SeekToKeyframe(0));
  EXPECT_EQ(sought->Lend(), nullptr);
  ASSERT_TRUE(sought->SeekToBeginning());
  EXPECT_NE(sought->Lend(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, PacketSourceLending,
    testing::Values("-map 0:v -c:v libx264 -bf 3", "-map 0:v -c:v mpeg4",
                    "-c:v libx264 -bf 2 -c:a aac -vsync vfr -vf "
                    "setpts=N*N/25/TB/100",
                    // Reading adds to the index, so the file is opened again.
                    "-map 0:v -c:v libx264 -bf 0 -movflags "
                    "frag_keyframe+empty_moov"));

TEST(PacketSourceLendingOfOthers, FilesOfOtherContainersAreNotLent) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  for (const std::string name : {"clip.mkv", "clip.ts"}) {
    const std::string path = TemporaryPath(name);
    ASSERT_TRUE(RunFfmpeg(
        "-f lavfi -i testsrc2=s=96x64:r=25 -t 2 -c:v libx264 '" + path + "'"));
    const auto demuxer = OpenFile(path, -1);
    ASSERT_TRUE(demuxer);
    EXPECT_EQ((*demuxer)->Lend(), nullptr) << name;
  }
}

TEST(PacketSource, ReadsOnAfterAPacketThatIsTooLarge) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path = TemporaryPath("sizes.mp4");
  ASSERT_TRUE(RunFfmpeg("-f lavfi -i testsrc2=s=96x64:r=25 -t 2 -c:v mpeg4 '" +
                        path + "'"));
  size_t largest = 0;
  const std::vector<Packet> all = ReadAll(**OpenFile(path, -1));
  for (const Packet& packet : all) {
    largest = std::max(largest, std::get<5>(packet).size());
  }
  const ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto source = PacketSource::Open(
      {fd.get(),
       static_cast<int64_t>(std::filesystem::file_size(path)),
       "sizes.mp4",
       kFirstStream,
       StreamKind::kVideo,
       {.packet_bytes = largest - 1}});
  ASSERT_TRUE(source) << source.error().message;
  size_t read = 0, too_large = 0;
  for (;;) {
    const auto result = (*source)->Read();
    if (result && !*result) break;
    ++(result ? read : too_large);
    ASSERT_TRUE(result || result.error().code == ipc::Code::kResourceExhausted);
  }
  EXPECT_GT(too_large, 0u);
  EXPECT_EQ(read + too_large, all.size());
  EXPECT_EQ((*source)->Lend(), nullptr);
}

}  // namespace
}  // namespace bulkhead::worker::demux
