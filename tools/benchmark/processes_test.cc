// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::benchmark {
namespace {

constexpr size_t kBytes = 50'000'000;

TEST(FamilyOf, HasGrandchildren) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const ipc::UniqueFd from(ends[0]);
  const ipc::UniqueFd to(ends[1]);
  const ipc::ForkedChild child([&] {
    const ipc::ForkedChild grandchild = ipc::ForkedChild::Sleeping();
    const pid_t pid = grandchild.pid();
    if (write(to.get(), &pid, sizeof(pid)) != sizeof(pid)) return 1;
    for (;;) pause();
  });
  pid_t grandchild = 0;
  ASSERT_EQ(read(from.get(), &grandchild, sizeof(grandchild)),
            static_cast<ssize_t>(sizeof(grandchild)));
  EXPECT_EQ(FamilyOf(getpid()),
            (std::vector<pid_t>{getpid(), child.pid(), grandchild}));
}

TEST(PssMegabytes, CountsASharedPageOnce) {
  const std::vector<pid_t> alone = {getpid()};
  const double before = PssMegabytes(alone).value();
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  EXPECT_NEAR(PssMegabytes(alone).value() - before, 50, 5);
  const ipc::ForkedChild child = ipc::ForkedChild::Prepared([&] {
    for (size_t i = 0; i < kBytes; i += 4096) {
      static_cast<volatile char*>(memory)[i] = 2;
    }
  });
  EXPECT_NEAR(PssMegabytes(alone).value() - before, 25, 5);
  EXPECT_NEAR(PssMegabytes({getpid(), child.pid()}).value() - before, 50, 10);
  munmap(memory, kBytes);
}

TEST(OpenDescriptors, CountsOneMore) {
  const int before = OpenDescriptors();
  const ipc::UniqueFd fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(OpenDescriptors(), before + 1);
}

}  // namespace
}  // namespace bulkhead::benchmark
