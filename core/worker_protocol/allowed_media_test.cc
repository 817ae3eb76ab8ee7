// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/allowed_media.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::worker_protocol {
namespace {

TEST(AllowedMediaTest, WhatIsNotListedIsAViolation) {
  const AllowedMedia allowed{.containers = {{"webm", "mp4"}},
                             .codecs = {{"vp9"}}};
  EXPECT_TRUE(CheckContainer(allowed, "matroska,webm").ok());
  EXPECT_TRUE(CheckContainer(allowed, "mov,mp4,m4a,3gp,3g2,mj2").ok());
  EXPECT_EQ(CheckContainer(allowed, "avi").code(), Code::kBackendMisbehaved);
  EXPECT_EQ(CheckContainer(allowed, "").code(), Code::kBackendMisbehaved);
  EXPECT_EQ(CheckContainer(allowed, "web").code(), Code::kBackendMisbehaved);
  EXPECT_TRUE(CheckOpened(allowed, "mov,mp4", "vp9").ok());
  EXPECT_EQ(CheckOpened(allowed, "mov,mp4", "vp8").code(),
            Code::kBackendMisbehaved);
  EXPECT_EQ(CheckOpened(allowed, "avi", "vp9").code(),
            Code::kBackendMisbehaved);
  EXPECT_TRUE(CheckOpened(AllowedMedia::All(), "avi", "vp8").ok());
  const AllowedMedia nothing{.containers = {std::vector<std::string>()},
                             .codecs = {std::vector<std::string>()}};
  EXPECT_FALSE(CheckContainer(nothing, "avi").ok());
  EXPECT_FALSE(CheckOpened(nothing, "", "").ok());
}

TEST(AllowedMediaTest, ANameHasToBeInBothLists) {
  const AllowedMedia both = Both(AllowedMedia::Web(), {.codecs = {{"h264"}}});
  EXPECT_EQ(both.codecs, (std::vector<std::string>{"h264"}));
  EXPECT_EQ(both.containers, AllowedMedia::Web().containers);
  EXPECT_EQ(Both({.codecs = {{"mpeg4"}}}, AllowedMedia::Web()).codecs,
            std::vector<std::string>());
  EXPECT_FALSE(Both(AllowedMedia::All(), AllowedMedia::All()).codecs);
}

TEST(AllowedMediaTest, CaseDoesNotMatter) {
  const std::vector<std::string> h264{"h264"};
  EXPECT_EQ(Both({.codecs = {{"H264"}}}, AllowedMedia::All()).codecs, h264);
  EXPECT_EQ(Both({.codecs = {{"H264"}}}, {.codecs = {{"h264"}}}).codecs, h264);
}

TEST(AllowedMediaTest, RefusesWhatIsNoListOfNames) {
  EXPECT_TRUE(ValidateAllowed(AllowedMedia::Web()).ok());
  for (const char* name : {"", "mp4,avi", "mp 4", "m\n", "h264%"}) {
    EXPECT_EQ(ValidateAllowed({.codecs = {{name}}}).code(),
              Code::kInvalidArgument)
        << name;
  }
  const std::vector<std::string> long_names(33, std::string(64, 'x'));
  EXPECT_EQ(ValidateAllowed({.codecs = long_names}).code(),
            Code::kInvalidArgument);
  const std::vector<std::string> many(257, "avi");
  EXPECT_EQ(ValidateAllowed({.containers = many}).code(),
            Code::kInvalidArgument);
}

TEST(AllowedMediaTest, TheLongestListsFitTheWordsThatAreAskedFor) {
  const std::vector<std::string> most(256, std::string(8, 'x'));
  const AllowedMedia allowed{.containers = most, .codecs = most};
  ASSERT_TRUE(ValidateAllowed(allowed).ok());
  capnp::MallocMessageBuilder message;
  WriteAllowed(allowed, message.initRoot<ipc::schema::AllowedMedia>());
  EXPECT_LE(message.sizeInWords(), AllowedWords(allowed));
}

}  // namespace
}  // namespace bulkhead::worker_protocol
