// SPDX-License-Identifier: Apache-2.0
#include "core/base/bounded_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>

#include "core/base/testing/temporary_tree.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead {
namespace {

constexpr int kForReading = O_RDONLY | O_NONBLOCK | O_CLOEXEC;

// Enough for the exchange to fall between two system calls many times.
constexpr int kRaces = 20'000;

class BoundedFileTest : public ::testing::Test {
 protected:
  BoundedFileTest() : directory_(tree_.Open()) {}

  Code CodeOf(const std::string& path) {
    return ReadFileBeneath(directory_.get(), path).error().code();
  }
  void Link(const std::string& target, const std::string& below) {
    std::filesystem::create_symlink(target, tree_ / below);
  }

  TemporaryTree tree_;
  ipc::UniqueFd directory_;
};

TEST_F(BoundedFileTest, ReadsARegularFileWhole) {
  const std::string contents(100000, 'x');
  tree_.Write("a/b", contents);
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "a/b").value(), contents);
  tree_.Write("empty", "");
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "empty").value(), "");
  const auto fd = OpenRegularFileBeneath(directory_.get(), "a/b");
  ASSERT_TRUE(fd);
  EXPECT_EQ(fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(BoundedFileTest, MissingFilesAreNotFound) {
  tree_.Write("file", "x");
  EXPECT_EQ(CodeOf("missing"), Code::kNotFound);
  EXPECT_EQ(CodeOf("file/below"), Code::kNotFound);
  EXPECT_EQ(CodeOf(""), Code::kNotFound);
}

// Files of /proc have the size 0.
TEST_F(BoundedFileTest, TheBoundHoldsForAFileThatIsLongerThanItSays) {
  const ipc::UniqueFd self(open("/proc/self", O_DIRECTORY | O_CLOEXEC));
  EXPECT_GT(ReadFileBeneath(self.get(), "stat").value().size(), 10u);
  EXPECT_EQ(ReadFileBeneath(self.get(), "stat", 10).error().code(),
            Code::kResourceExhausted);
}

TEST_F(BoundedFileTest, WhatIsNoRegularFileIsRefusedWithoutBlocking) {
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(CodeOf("fifo"), Code::kUnsupported);
  tree_.Write("folder/x", "x");
  EXPECT_EQ(CodeOf("folder"), Code::kUnsupported);
  EXPECT_EQ(FindDirectoryBeneath(directory_.get(), "folder/x").code(),
            Code::kUnsupported);
  if (mknod((tree_ / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
    EXPECT_EQ(CodeOf("null"), Code::kUnsupported);
  }
}

// inotify reports every open() of a file but those with O_PATH.
TEST_F(BoundedFileTest, WhatIsNoRegularFileIsNotEvenOpened) {
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  Link("fifo", "link");
  const ipc::UniqueFd opened(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(opened.get(), (tree_ / "fifo").c_str(), IN_OPEN),
            0);
  for (const char* path : {"fifo", "./fifo", "link"}) {
    EXPECT_EQ(CodeOf(path), Code::kUnsupported);
    inotify_event event;
    EXPECT_EQ(read(opened.get(), &event, sizeof event), -1) << path;
  }
  const ipc::UniqueFd one(openat(directory_.get(), "fifo", kForReading));
  inotify_event event;
  EXPECT_EQ(read(opened.get(), &event, sizeof event), ssize_t{sizeof event});
}

// Somebody exchanges a file for a FIFO all the time, also between the look at
// it and its opening.
TEST_F(BoundedFileTest, AFifoInPlaceOfTheFileThatWasSeenIsRefused) {
  tree_.Write("file", "contents");
  ASSERT_EQ(mkfifo((tree_ / "fifo").c_str(), 0600), 0);
  const std::jthread exchanging([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      renameat2(directory_.get(), "file", directory_.get(), "fifo",
                RENAME_EXCHANGE);
    }
  });
  for (const char* path : {"file", "./file"}) {
    int read = 0;
    int refused = 0;
    for (int i = 0; i < kRaces; ++i) {
      const auto contents = ReadFileBeneath(directory_.get(), path);
      if (contents) {
        ASSERT_EQ(*contents, "contents") << path;
        ++read;
      } else {
        ASSERT_EQ(contents.error().code(), Code::kUnsupported) << path;
        ++refused;
      }
    }
    EXPECT_GT(read, 0);
    EXPECT_GT(refused, 0);
  }
}

TEST_F(BoundedFileTest, LinksLeadNowhereElse) {
  Link("loop", "loop");
  EXPECT_EQ(CodeOf("loop"), Code::kInvalidArgument);
  Link("nothing", "dangling");
  EXPECT_EQ(CodeOf("dangling"), Code::kInvalidArgument);
  Link("/etc/passwd", "absolute");
  EXPECT_EQ(CodeOf("absolute"), Code::kInvalidArgument);
  tree_.Write("folder/x", "inside");
  Link("../../etc/passwd", "folder/up");
  EXPECT_EQ(CodeOf("folder/up"), Code::kInvalidArgument);
  Link("folder", "link");
  EXPECT_EQ(ReadFileBeneath(directory_.get(), "link/x").value(), "inside");
}

TEST_F(BoundedFileTest, PathsDoNotLeaveTheDirectory) {
  EXPECT_EQ(CodeOf("/etc/passwd"), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf("../x"), Code::kInvalidArgument);
}

TEST_F(BoundedFileTest, DirectoriesAreFoundWhereLinksStayInside) {
  const auto code = [&](const std::string& path) {
    return FindDirectoryBeneath(directory_.get(), path).code();
  };
  tree_.Write("folder/x", "x");
  Link("folder", "link");
  Link("/etc", "out");
  Link("gone", "dangling");
  EXPECT_EQ(code("folder"), Code::kOk);
  EXPECT_EQ(code("link"), Code::kOk);
  EXPECT_EQ(code("out"), Code::kInvalidArgument);
  EXPECT_EQ(code("dangling"), Code::kNotFound);
  EXPECT_EQ(code("missing"), Code::kNotFound);
}

// A folder that the caller knows as plain may have become a link meanwhile.
TEST_F(BoundedFileTest, PlainFoldersThatAreNoneLeadNowhereElseEither) {
  const auto read = [&](const std::string& path) {
    return ReadFileBeneath(directory_.get(), path,
                           ReadOptions{.plain_folders = true});
  };
  tree_.Write("folder/x", "inside");
  Link("folder", "link");
  Link("/etc", "out");
  Link("/etc/passwd", "folder/file");
  EXPECT_EQ(read("folder/x").value(), "inside");
  EXPECT_EQ(read("link/x").value(), "inside");
  EXPECT_EQ(read("out/passwd").error().code(), Code::kInvalidArgument);
  EXPECT_EQ(read("folder/file").error().code(), Code::kInvalidArgument);
}

// Makes openat2 fail with `error` in this process.
bool RefuseOpenat2(uint32_t error) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {.len = 4, .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Kernels before 5.6 have no openat2, and the filters of some containers refuse
// it. Then no link is followed at all.
TEST_F(BoundedFileTest, WithoutOpenat2NoPathLeavesTheDirectoryEither) {
  tree_.Write("folder/x", "inside");
  Link("/etc", "out");
  Link("/etc/passwd", "folder/file");
  Link("folder", "link");
  const ipc::UniqueFd below(
      open((tree_ / "folder").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  tree_.Write("beside", "outside");
  for (const uint32_t error : {ENOSYS, EPERM}) {
    ipc::ForkedChild child([&] {
      if (!RefuseOpenat2(error)) return 2;
      EXPECT_EQ(ReadFileBeneath(directory_.get(), "folder/x").value(),
                "inside");
      EXPECT_EQ(ReadFileBeneath(below.get(), "x").value(), "inside");
      for (const char* path :
           {"out/passwd", "folder/file", "link/x", "/etc/passwd"}) {
        EXPECT_FALSE(ReadFileBeneath(directory_.get(), path)) << path;
      }
      for (const char* path : {"../beside", "../folder/x"}) {
        EXPECT_FALSE(ReadFileBeneath(below.get(), path)) << path;
      }
      std::fflush(stdout);
      return HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(child.Wait(), 0);
  }
}

TEST_F(BoundedFileTest, ReadsNoMoreThanIsWanted) {
  tree_.Write("file", "head\n\n" + std::string(500000, 'x'));
  const auto has_head = [](std::string_view text) {
    return text.find("\n\n") != std::string_view::npos;
  };
  const Result<std::string> text = ReadFileBeneath(
      directory_.get(), "file", ReadOptions{.saw_enough = has_head});
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->starts_with("head\n\n"));
  EXPECT_LT(text->size(), 100000u);
  EXPECT_EQ(
      ReadFileBeneath(directory_.get(), "file",
                      ReadOptions{.max_bytes = 1000, .saw_enough = has_head})
          .error()
          .code(),
      Code::kResourceExhausted);
}

TEST_F(BoundedFileTest, FilesThatSayTheyAreEmptyAreReadToTheirEnd) {
  const ipc::UniqueFd proc(open("/proc/self", O_RDONLY | O_DIRECTORY));
  const Result<std::string> text = ReadFileBeneath(proc.get(), "stat");
  ASSERT_TRUE(text) << text.error();
  EXPECT_FALSE(text->empty());
}

TEST_F(BoundedFileTest, BigFilesAreRefusedUnread) {
  tree_.Write("big", "");
  ASSERT_EQ(truncate((tree_ / "big").c_str(), 100 << 20), 0);
  EXPECT_EQ(CodeOf("big"), Code::kResourceExhausted);
  tree_.Write("limit", std::string(10, 'x'));
  EXPECT_TRUE(ReadFileBeneath(directory_.get(), "limit", 10));
  EXPECT_FALSE(ReadFileBeneath(directory_.get(), "limit", 9));
}

}  // namespace
}  // namespace bulkhead
