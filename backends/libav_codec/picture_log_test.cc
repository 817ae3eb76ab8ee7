// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/picture_log.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
}

namespace bulkhead::libav_codec {
namespace {

TEST(PictureLog, LibavcodecStillSaysTheWordsThatItLooksFor) {
  Dl_info library{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&::avcodec_version), &library), 0);
  std::ifstream file(library.dli_fname, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  ASSERT_GT(bytes.size(), 1u << 20) << library.dli_fname;
  const auto words = PictureLog::Words();
  ASSERT_GT(words.size(), 10u);
  for (const std::string_view text : words) {
    EXPECT_NE(bytes.find(text), std::string::npos)
        << library.dli_fname << " no longer says \"" << text << '"';
  }
  EXPECT_EQ(bytes.find("no decoder says this line"), std::string::npos);
}

TEST(PictureLog, AnyErrorOfJpeg2000DamagesThePicture) {
  for (const AVCodecID codec : {AV_CODEC_ID_JPEG2000, AV_CODEC_ID_FLV1}) {
    PictureLog log(codec);
    const int64_t packet = log.NextPacket(true, 0);
    log.Line(packet, AV_LOG_WARNING, "a warning");
    EXPECT_FALSE(log.IsDamaged(packet, 0));
    log.Line(packet, AV_LOG_ERROR, "an error");
    log.Begins(packet);
    EXPECT_EQ(log.IsDamaged(packet, 0), codec == AV_CODEC_ID_JPEG2000);
  }
}

}  // namespace
}  // namespace bulkhead::libav_codec
