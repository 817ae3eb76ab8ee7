// SPDX-License-Identifier: Apache-2.0
//
// What a Host that allows only some containers and codecs opens, and what it
// refuses before anything of it has run.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Allowed : public testing::Test {
 protected:
  // Makes a second of video, and of sound if there is a codec for it.
  std::string Make(const std::string& name, const std::string& video,
                   const std::string& audio) {
    std::string path = TemporaryDirectory() + "/" + name;
    std::vector<std::string> arguments{
        "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=10:duration=1"};
    if (!audio.empty()) {
      arguments.insert(arguments.end(),
                       {"-f", "lavfi", "-i", "sine=duration=1", "-c:a", audio});
    }
    arguments.insert(arguments.end(), {"-c:v", video, path});
    const ProgramResult made = RunFfmpeg(arguments);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }
  std::unique_ptr<Host> NewHost(AllowedMedia allowed) {
    HostOptions options = installation_.options();
    options.allowed = std::move(allowed);
    return Host::Create(options).value();
  }
  void ExpectRefused(const Status& status, const std::string& what) {
    EXPECT_EQ(status.code(), Code::kUnsupported) << status;
    EXPECT_TRUE(Has(status.message(), what)) << status;
    EXPECT_TRUE(Has(status.message(), "allowed")) << status;
  }

  const ChaosInstallation installation_;
};

TEST_F(Allowed, WebOpensWhatBrowsersPlay) {
  const auto host = NewHost(AllowedMedia::Web());
  for (const auto& [name, video, audio] :
       {std::tuple{"web.mp4", "libx264", "aac"},
        std::tuple{"web.webm", "libvpx-vp9", "libopus"},
        std::tuple{"web.mkv", "libvpx", "libvorbis"}}) {
    const std::string path = Make(name, video, audio);
    Result<VideoDecoder> decoder = host->OpenVideo(path);
    ASSERT_TRUE(decoder) << decoder.error();
    EXPECT_EQ(decoder->FrameCount().value(), 10u) << name;
    EXPECT_TRUE(decoder->Next().value()) << name;
    Result<AudioDecoder> sound = host->OpenAudio(path);
    ASSERT_TRUE(sound) << sound.error();
    EXPECT_GT(sound->AllSamples().value().count(), 40'000u) << name;
  }
}

TEST_F(Allowed, AnotherContainerIsRefusedByName) {
  const auto host = NewHost(AllowedMedia::Web());
  const std::string path = Make("old.avi", "libx264", "aac");
  ExpectRefused(host->OpenVideo(path).error(), "the container avi");
  ExpectRefused(host->OpenAudio(path).error(), "the container avi");
  ExpectRefused(host->Probe(path).error(), "the container avi");
  // Nor by the name of another.
  const std::string renamed = TemporaryDirectory() + "/renamed.mp4";
  ASSERT_EQ(std::rename(path.c_str(), renamed.c_str()), 0);
  ExpectRefused(host->OpenVideo(renamed).error(), "the container avi");
}

TEST_F(Allowed, AnotherCodecIsRefusedByNameAndTheOtherStreamIsUsable) {
  const auto host = NewHost(AllowedMedia::Web());
  const std::string path = Make("mixed.mkv", "mpeg4", "aac");
  // The backend would crash if it were opened.
  const Status refused =
      host->OpenVideo(path, ChaosInstallation::Stream("at=open do=abort"))
          .error();
  ExpectRefused(refused, "stream 0 is of the codec mpeg4");
  EXPECT_EQ(refused.exit_report(), nullptr);
  EXPECT_GT(host->OpenAudio(path).value().AllSamples().value().count(),
            40'000u);
}

TEST_F(Allowed, AStreamThatIsNotAllowedIsNotDecodedByAProbeEither) {
  const std::string path = Make("mixed.mkv", "mpeg4", "aac");
  // Only a decoder knows the pixel format of MPEG-4 in Matroska.
  const ContainerMetadata all =
      NewHost(AllowedMedia::All())->Probe(path, {.scan = true}).value();
  ASSERT_EQ(all.streams.size(), 2u);
  ASSERT_EQ(all.streams[0].pixel_format, "yuv420p");
  EXPECT_EQ(all.streams[0].frame_count_from_content, 10u);
  const ContainerMetadata web =
      NewHost(AllowedMedia::Web())->Probe(path, {.scan = true}).value();
  ASSERT_EQ(web.streams.size(), 2u);
  EXPECT_EQ(web.streams[0].codec, "mpeg4");
  EXPECT_EQ(web.streams[0].pixel_format, "");
  EXPECT_FALSE(web.streams[0].frame_count_from_content);
  EXPECT_EQ(web.streams[1].sample_format, all.streams[1].sample_format);
  EXPECT_EQ(web.streams[1].frame_count_from_content,
            all.streams[1].frame_count_from_content);
}

TEST_F(Allowed, AStreamThatAppearsAmongPacketsRefusesTheFile) {
  const std::string path = Make("mixed.flv", "libx264", "aac");
  const auto host = NewHost({.codecs = {{"h264"}}});
  ExpectRefused(host->OpenVideo(path).error(), "the codec aac");
  ExpectRefused(host->Probe(path).error(), "the codec aac");
  EXPECT_TRUE(
      NewHost({.codecs = {{"h264", "aac"}}})->OpenVideo(path).has_value());
}

TEST_F(Allowed, ATransportStreamTellsItsCodecsBeforeItsPackets) {
  const std::string path = Make("mixed.ts", "libx264", "ac3");
  const auto host = NewHost({.codecs = {{"h264"}}});
  EXPECT_TRUE(host->OpenVideo(path).value().Next().value());
  ExpectRefused(host->OpenAudio(path).error(), "the codec ac3");
}

TEST_F(Allowed, OptionsOfACallNarrowThoseOfTheHost) {
  const std::string path = Make("narrow.mp4", "libx264", "aac");
  const auto host = NewHost({.codecs = {{"h264", "vp9"}}});
  VideoOptions options;
  options.allowed.codecs = {{"vp9", "aac"}};
  ExpectRefused(host->OpenVideo(path, options).error(), "the codec h264");
  AudioOptions sound;
  sound.allowed.codecs = {{"vp9", "aac"}};
  ExpectRefused(host->OpenAudio(path, sound).error(), "the codec aac");
  ProbeOptions probe;
  probe.allowed.containers = {std::vector<std::string>()};
  ExpectRefused(host->Probe(path, probe).error(), "the container mov,mp4");
  EXPECT_TRUE(host->OpenVideo(path));
  options.allowed.codecs = {{"h264,vp9"}};
  EXPECT_EQ(host->OpenVideo(path, options).error().code(),
            Code::kInvalidArgument);
}

TEST_F(Allowed, NoListLeadsToFurtherFiles) {
  const std::string target = Make("target.ts", "libx264", "");
  const std::string playlist = TemporaryDirectory() + "/list.m3u8";
  std::ofstream(playlist) << "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n"
                             "target.ts\n#EXT-X-ENDLIST\n";
  const Status refused =
      NewHost({.containers = {{"hls", "mpegts"}}, .codecs = {{"h264"}}})
          ->OpenVideo(playlist)
          .error();
  EXPECT_EQ(refused.code(), Code::kUnsupported) << refused;
  EXPECT_TRUE(Has(refused.message(), "refers to other files")) << refused;
}

TEST_F(Allowed, WhatHasNoMediaOfItsOwnIsUnsupportedByName) {
  const auto all = NewHost(AllowedMedia::All());
  const auto web = NewHost(AllowedMedia::Web());
  for (const auto& [name, container, text] :
       {std::tuple{"list.m3u8", "hls",
                   "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n"
                   "target.ts\n#EXT-X-ENDLIST\n"},
        std::tuple{"list.ffconcat", "concat",
                   "ffconcat version 1.0\nfile target.ts\n"},
        std::tuple{"call.sdp", "sdp",
                   "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\n"
                   "c=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"
                   "a=rtpmap:96 H264/90000\n"},
        std::tuple{"stream.mpd", "dash",
                   "<?xml version=\"1.0\"?>\n<MPD type=\"static\" "
                   "profiles=\"urn:mpeg:dash:profile:isoff-main:2011\">"
                   "</MPD>\n"}}) {
    const std::string path = TemporaryDirectory() + "/" + name;
    std::ofstream(path) << text;
    const std::string what = std::string("the container ") + container;
    for (const Status& refused :
         {all->OpenVideo(path).error(), all->Probe(path).error()}) {
      EXPECT_EQ(refused.code(), Code::kUnsupported) << refused;
      EXPECT_TRUE(Has(refused.message(), what)) << refused;
      EXPECT_TRUE(Has(refused.message(), "refers to other files")) << refused;
    }
    ExpectRefused(web->OpenVideo(path).error(), what);
  }
}

TEST_F(Allowed, TheCommandTakesPresetsAndLists) {
  const std::string path = Make("cli.mkv", "mpeg4", "aac");
  const auto run = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                   "decode",
                                   path,
                                   "--format",
                                   "null",
                                   "--libexec",
                                   LibexecDirectory()};
    words.insert(words.end(), options.begin(), options.end());
    return RunProgram(words);
  };
  EXPECT_EQ(run({"--allow", "all"}).exit_code, 0);
  const ProgramResult web = run({"--allow", "web"});
  EXPECT_EQ(web.exit_code, 3) << web.Describe();
  EXPECT_TRUE(Has(web.errors, "codec mpeg4")) << web.errors;
  EXPECT_EQ(run({"--allow", "web", "--allow-codecs", "mpeg4,aac"}).exit_code,
            0);
  const ProgramResult mp4 = run({"--allow-containers", "mp4"});
  EXPECT_EQ(mp4.exit_code, 3) << mp4.Describe();
  EXPECT_TRUE(Has(mp4.errors, "container matroska,webm")) << mp4.errors;
  EXPECT_EQ(run({"--allow-codecs", "MPEG4", "--allow-codecs", "aac"}).exit_code,
            0);
}

TEST_F(Allowed, TheCommandRefusesAnEmptyListWhereverItStands) {
  const std::string path = Make("empty.mkv", "mpeg4", "aac");
  const std::string cli = PathFromEnvironment("BULKHEAD_TEST_CLI");
  const std::vector<std::vector<std::string>> calls{
      {"--allow-codecs", "", "decode", path},
      {"--allow-containers", "", "decode", path},
      {"decode", path, "--allow-codecs", "", "--allow-codecs", "mpeg4"},
      {"decode", path, "--allow-codecs", "mpeg4", "--allow-codecs", ""},
      {"decode", path, "--allow-codecs", "mpeg4,"},
      {"--allow-codecs", ",", "decode", path},
      {"--allow-codecs=", "decode", path},
      {"decode", "--allow-containers=", path},
      {"decode", path, "--allow", ""}};
  for (std::vector<std::string> words : calls) {
    words.insert(words.begin(), cli);
    words.insert(words.end(),
                 {"--format", "null", "--libexec", LibexecDirectory()});
    const ProgramResult refused = RunProgram(words);
    EXPECT_EQ(refused.exit_code, 2) << refused.Describe();
    EXPECT_TRUE(Has(refused.errors, "--allow")) << refused.errors;
    EXPECT_FALSE(Has(refused.errors, "subcommand")) << refused.errors;
  }
}

TEST_F(Allowed, AnEmptyListAllowsNothing) {
  const std::string path = Make("nothing.mp4", "libx264", "aac");
  const std::vector<std::string> none;
  const auto host = NewHost({.codecs = none});
  ExpectRefused(host->OpenVideo(path).error(), "the codec h264");
  ExpectRefused(host->OpenAudio(path).error(), "the codec aac");
  EXPECT_EQ(host->Probe(path).value().streams[0].pixel_format, "");
  ExpectRefused(NewHost({.containers = none})->OpenVideo(path).error(),
                "the container mov,mp4");
  VideoOptions options;
  options.allowed.codecs = none;
  ExpectRefused(NewHost(AllowedMedia::All())->OpenVideo(path, options).error(),
                "the codec h264");
  options.allowed.codecs = {{"h264"}};
  ExpectRefused(
      NewHost({.codecs = {{"aac"}}})->OpenVideo(path, options).error(),
      "the codec h264");
}

TEST_F(Allowed, DoctorDecodesItsOwnPictureWhateverIsAllowed) {
  const ProgramResult doctor =
      RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
                  LibexecDirectory(), "--allow", "web", "doctor"});
  EXPECT_EQ(doctor.exit_code, 0) << doctor.Describe();
}

}  // namespace
}  // namespace bulkhead::tests
