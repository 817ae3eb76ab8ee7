// SPDX-License-Identifier: Apache-2.0
#include "ipc/message_socket.h"

#include <capnp/message.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "ipc/capnp_read.h"
#include "ipc/deadline.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/support/rows.h"

namespace bulkhead::ipc {
namespace {

// bound: nobody does what is waited for.
Deadline Soon() { return Deadline::After(std::chrono::milliseconds(20)); }
Deadline Late() { return Deadline::After(std::chrono::seconds(20)); }

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

class MessageSocketTest : public testing::Test {
 protected:
  MessageSocketTest() {
    auto pair = MakeSocketPair();
    near_ = std::move(pair->first);
    far_ = std::move(pair->second);
  }

  Expected<void> SendDevice(std::string_view device,
                            std::span<const int> descriptors = {}) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schema::HostRequest>().initOpenSession().setDevice(
        std::string(device));
    return SendMessage(near_.get(), message, descriptors, Soon());
  }

  void SendRaw(const void* bytes, size_t size, std::vector<int> fds = {}) {
    iovec part = {const_cast<void*>(bytes), size};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(fds.size() * sizeof(int)));
    if (!fds.empty()) {
      header.msg_control = control.data();
      header.msg_controllen = control.size();
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
      memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
    }
    ASSERT_EQ(sendmsg(near_.get(), &header, 0), static_cast<ssize_t>(size));
  }

  void ExpectMisbehaved(size_t max_descriptors = 0) {
    const auto received = ReceiveMessage(far_.get(), max_descriptors, Soon());
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, Code::kBackendMisbehaved);
  }

  UniqueFd near_, far_;
};

TEST_F(MessageSocketTest, AMessageArrivesAsItWasSent) {
  ASSERT_TRUE(SendDevice("openreg:1"));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  ReceivedMessage moved = *std::move(*received);
  const auto root = moved.root<schema::HostRequest>();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->getOpenSession().getDevice(), "openreg:1");
}

TEST_F(MessageSocketTest, AnEmptyBuilderIsAMessageOfDefaults) {
  capnp::MallocMessageBuilder message;
  ASSERT_TRUE(SendMessage(near_.get(), message, {}, Soon()));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  const auto root = (*received)->root<schema::HostRequest>();
  ASSERT_TRUE(root);
  EXPECT_EQ(root->which(), schema::HostRequest::CONFIGURE);
}

TEST_F(MessageSocketTest, SeveralSegmentsAreJoined) {
  capnp::MallocMessageBuilder message(
      /*firstSegmentWords=*/8, capnp::AllocationStrategy::FIXED_SIZE);
  auto names =
      message.initRoot<schema::HostRequest>().initConfigure().initEnabled(100);
  for (unsigned i = 0; i < 100; ++i) names.set(i, std::to_string(i));
  ASSERT_GT(message.getSegmentsForOutput().size(), 1u);
  ASSERT_TRUE(SendMessage(near_.get(), message, {}, Soon()));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  const auto last = ReadCatching([&] {
    return std::string((*received)
                           ->root<schema::HostRequest>()
                           ->getConfigure()
                           .getEnabled()[99]
                           .cStr());
  });
  ASSERT_TRUE(last);
  EXPECT_EQ(*last, "99");
}

TEST_F(MessageSocketTest, DescriptorsArriveCloseOnExec) {
  struct stat sent, arrived;
  ASSERT_EQ(fstat(near_.get(), &sent), 0);
  const int fds[] = {near_.get(), far_.get()};
  ASSERT_TRUE(SendDevice("", fds));
  auto received = ReceiveMessage(far_.get(), 2, Soon());
  ASSERT_TRUE(received && *received);
  ASSERT_EQ((*received)->descriptors.size(), 2u);
  const int fd = (*received)->descriptors[0].get();
  ASSERT_EQ(fstat(fd, &arrived), 0);
  EXPECT_EQ(sent.st_ino, arrived.st_ino);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(MessageSocketTest, UntakenDescriptorsCloseWithTheMessage) {
  const size_t before = OpenDescriptors();
  {
    const int fds[] = {near_.get()};
    ASSERT_TRUE(SendDevice("", fds));
    auto received = ReceiveMessage(far_.get(), 1, Soon());
    ASSERT_TRUE(received && *received);
    EXPECT_EQ(OpenDescriptors(), before + 1);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_F(MessageSocketTest, TheLargestMessageFitsAndALargerOneIsRefused) {
  constexpr size_t kOverhead = 128;
  ASSERT_TRUE(SendDevice(std::string(kMaxMessageBytes - kOverhead, 'x')));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  const auto refused = SendDevice(std::string(kMaxMessageBytes, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kResourceExhausted);
}

TEST_F(MessageSocketTest, MoreDescriptorsThanTheLimitAreNotSent) {
  const std::vector<int> fds(kMaxDescriptors + 1, near_.get());
  EXPECT_EQ(SendDevice("", fds).error().code, Code::kInvalidArgument);
  EXPECT_TRUE(SendDevice("", std::span(fds).first(kMaxDescriptors)));
}

TEST_F(MessageSocketTest, AClosedPeerEndsReceivingAfterItsLastMessage) {
  ASSERT_TRUE(SendDevice("cpu"));
  near_.reset();
  auto last = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(last && *last);
  auto end = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(MessageSocketTest, APeerThatClosedUnreadMessagesIsAnOrderlyEnd) {
  capnp::MallocMessageBuilder message;
  ASSERT_TRUE(SendMessage(far_.get(), message, {}, Soon()));
  near_.reset();
  auto end = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(MessageSocketTest, SendingToAClosedPeerIsLostAndNoSignal) {
  far_.reset();
  EXPECT_EQ(SendDevice("cpu").error().code, Code::kBackendLost);
}

TEST_F(MessageSocketTest, SilencePastTheDeadlineIsAnError) {
  EXPECT_EQ(ReceiveMessage(far_.get(), 0, Soon()).error().code,
            Code::kDeadlineExceeded);
}

TEST_F(MessageSocketTest, APeerThatDoesNotReadIsDeadlineExceeded) {
  Expected<void> sent;
  for (int i = 0; i < 100 && sent; ++i) {
    sent = SendDevice(std::string(kMaxMessageBytes / 2, 'x'));
  }
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kDeadlineExceeded);
}

TEST_F(MessageSocketTest, AFullSocketWaitsForItsReader) {
  constexpr int kMessages = 50;
  std::thread reader([&] {
    for (int i = 0; i < kMessages; ++i) {
      auto received = ReceiveMessage(far_.get(), 0, Late());
      ASSERT_TRUE(received && *received);
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schema::HostRequest>().initOpenSession().setDevice(
        std::string(kMaxMessageBytes / 2, 'x'));
    ASSERT_TRUE(SendMessage(near_.get(), message, {}, Late()));
  }
  reader.join();
}

TEST_F(MessageSocketTest, TryReceiveTellsNotYetFromClosed) {
  auto nothing = TryReceiveMessage(far_.get(), 0);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(std::get<NoMessage>(*nothing), NoMessage::kNotYet);
  near_.reset();
  auto closed = TryReceiveMessage(far_.get(), 0);
  ASSERT_TRUE(closed);
  EXPECT_EQ(std::get<NoMessage>(*closed), NoMessage::kClosed);
}

TEST_F(MessageSocketTest, APacketOfLengthZeroIsNotTheEnd) {
  SendRaw("", 0);
  ExpectMisbehaved();
}

TEST_F(MessageSocketTest, APacketOfPartialWordsIsMisbehaviour) {
  SendRaw("0123456789abcdefX", 17);
  ExpectMisbehaved();
}

TEST_F(MessageSocketTest, APacketAboveTheLimitIsMisbehaviour) {
  std::vector<uint64_t> words(kMaxMessageBytes / 8 + 1);
  // The segment table is right for the part that is received.
  words[0] = uint64_t{kMaxMessageBytes / 8 - 1} << 32;
  SendRaw(words.data(), words.size() * 8);
  ExpectMisbehaved();
}

TEST_F(MessageSocketTest, FramingThatLiesIsMisbehaviour) {
  const uint32_t packets[][4] = {
      {0, 2, 0, 0},           // a segment of more words than arrived
      {0, 0, 0, 0},           // a segment of fewer words than arrived
      {1, 1, 0, 0},           // two segments
      {0xFFFFFFFF, 1, 0, 0},  // 2^32 segments
      {0, 0xFFFFFFFF, 0, 0},
  };
  for (const auto& packet : packets) {
    SendRaw(packet, sizeof(packet));
    ExpectMisbehaved();
  }
  SendRaw(packets[0], 8);
  ExpectMisbehaved();
}

TEST_F(MessageSocketTest, AReadableDescriptorOfTheDeadlineEndsTheWait) {
  auto [closed, interrupt] = *MakeSocketPair();
  closed.reset();
  const Deadline deadline =
      Deadline::After(std::chrono::hours(1)).OrReadable(interrupt.get());
  EXPECT_EQ(ReceiveMessage(far_.get(), 0, deadline).error().code,
            Code::kDeadlineExceeded);
  ASSERT_TRUE(SendDevice("openreg:1"));
  EXPECT_TRUE(ReceiveMessage(far_.get(), 0, deadline)->has_value());
}

TEST_F(MessageSocketTest, UnwantedDescriptorsAreClosed) {
  const uint32_t packet[] = {0, 1, 0, 0};
  const size_t before = OpenDescriptors();
  for (const size_t count : {1, 2, 3, 8, 9, 10, 11, 100}) {
    SendRaw(packet, sizeof(packet), std::vector<int>(count, near_.get()));
    ExpectMisbehaved(/*max_descriptors=*/count > 8 ? 8 : count - 1);
    EXPECT_EQ(OpenDescriptors(), before);
  }
  SendRaw("", 0, {near_.get()});
  ExpectMisbehaved(1);
  SendRaw("x", 1, {near_.get()});
  ExpectMisbehaved(1);
  EXPECT_EQ(OpenDescriptors(), before);
}

// A worker has no way to give the host memory of its own, of whatever kind.
TEST_F(MessageSocketTest, UnwantedDescriptorsOfEachKindAreClosed) {
  const auto memory = [](unsigned flags) {
    return UniqueFd(memfd_create("frame", flags));
  };
  UniqueFd sealed = memory(MFD_HUGETLB | MFD_ALLOW_SEALING);
  if (sealed) {
    fcntl(sealed.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  }
  char unlinked[] = "/tmp/frame-XXXXXX";
  UniqueFd file(mkstemp(unlinked));
  unlink(unlinked);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  const UniqueFd huge = std::move(sealed);
  const UniqueFd plain = memory(0);
  const UniqueFd directory(open("/", O_RDONLY | O_DIRECTORY));
  const UniqueFd path(open("/", O_PATH));
  const UniqueFd own_memory(open("/proc/self/mem", O_RDWR));
  const UniqueFd zeros(open("/dev/zero", O_RDWR));
  const std::pair<const char*, int> kinds[] = {
      {"sealed huge pages", huge.get()},
      {"unsealed memory", plain.get()},
      {"pipe", read_end.get()},
      {"directory", directory.get()},
      {"O_PATH", path.get()},
      {"/proc/self/mem", own_memory.get()},
      {"/dev/zero", zeros.get()},
      {"socket", near_.get()},
      {"unlinked file", file.get()},
  };
  for (const auto& [kind, fd] : kinds) {
    ASSERT_GE(fd, 0) << kind;
    const size_t before = OpenDescriptors();
    ASSERT_TRUE(SendDevice("cpu", std::span(&fd, 1))) << kind;
    const auto received = ReceiveMessage(far_.get(), 0, Late());
    const std::string outcome =
        std::string(received ? "taken" : "refused") + ", " +
        std::to_string(OpenDescriptors() - before) + " left";
    for (const auto& row : {tests::Escape(60), tests::Escape(66)}) {
      tests::ExpectOutcome(row, kind, "refused, 0 left", outcome);
    }
  }
}

TEST_F(MessageSocketTest, OwnDescriptorLimitIsNotBlamedOnThePeer) {
  const int fds[] = {near_.get(), near_.get()};
  ASSERT_TRUE(SendDevice("", fds));
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd lowest_free(dup(near_.get()));
  rlimit limit = before;
  limit.rlim_cur = lowest_free.get() + 1;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const auto received = ReceiveMessage(far_.get(), 2, Soon());
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, Code::kResourceExhausted);
}

TEST_F(MessageSocketTest,
       ADescriptorWithNoNumberAboveTheStandardOnesIsAnError) {
  const int fds[] = {near_.get()};
  ASSERT_TRUE(SendDevice("", fds));
  ForkedChild child([&] {
    ::close(STDIN_FILENO);
    // Leaves standard input's number as the only one.
    const rlimit limit = {.rlim_cur = 1, .rlim_max = 1};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
    const auto received = ReceiveMessage(far_.get(), 1, Soon());
    if (received) return 2;
    return received.error().code == Code::kResourceExhausted ? 0 : 3;
  });
  EXPECT_EQ(child.Wait(), 0);
}

TEST_F(MessageSocketTest, MalformedPointersAreFoundOnReading) {
  // A root struct pointer whose target lies far outside the segment.
  const uint32_t packet[] = {0, 1, 0x7FFFFFF0, 0x00010001};
  SendRaw(packet, sizeof(packet));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  const auto root = (*received)->root<schema::HostRequest>();
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().code, Code::kBackendMisbehaved);
}

TEST_F(MessageSocketTest, ReadingOneFieldOverAndOverIsBounded) {
  // Makes pluginPath, the field beside `autoload`, a list of 1 << 28 void
  // elements.
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::HostRequest>().initConfigure().initEnabled(1);
  ASSERT_TRUE(SendMessage(near_.get(), message, {}, Soon()));
  auto received = ReceiveMessage(far_.get(), 0, Soon());
  ASSERT_TRUE(received && *received);
  const auto visits = ReadCatching([&]() -> Expected<int> {
    auto root = (*received)->root<schema::HostRequest>();
    for (int i = 0; i < 100'000; ++i) {
      root->getConfigure().getEnabled();
    }
    return 0;
  });
  ASSERT_FALSE(visits);
  EXPECT_EQ(visits.error().code, Code::kBackendMisbehaved);
}

TEST(ReadCatchingTest, PassesValuesErrorsAndNothing) {
  EXPECT_EQ(*ReadCatching([] { return 42; }), 42);
  EXPECT_TRUE(ReadCatching([] {}));
  const auto failed = ReadCatching(
      []() -> Expected<int> { return Fail(Code::kOutOfRange, "there"); });
  EXPECT_EQ(failed.error().code, Code::kOutOfRange);
}

}  // namespace
}  // namespace bulkhead::ipc
