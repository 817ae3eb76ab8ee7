// SPDX-License-Identifier: Apache-2.0
//
// Pages of files that other processes map too: whoever waits on one of them, or
// looks whether it is in memory, could learn something by it.

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kPage = 4096;
constexpr const char* kNoMedia = "allowed: no media yet";

// A page of libc, which every process of this machine maps.
uint32_t* PageOfLibc() {
  const auto address = reinterpret_cast<uintptr_t>(&printf);
  return reinterpret_cast<uint32_t*>(address & ~(kPage - 1));
}

std::string Wake(const Targets&) {
  return Answer(syscall(SYS_futex, PageOfLibc(), FUTEX_WAKE, 1, 0, 0, 0));
}

// A wait that the kernel accepts ends by its timeout, or by another process
// that makes the attempt above.
std::string Wait(const Targets&) {
  const timespec soon = {.tv_sec = 0, .tv_nsec = 1};
  return Answer(
      syscall(SYS_futex, PageOfLibc(), FUTEX_WAIT, *PageOfLibc(), &soon, 0, 0));
}

[[noreturn]] void EndThread() {
  asm volatile("syscall" : : "a"(SYS_exit), "D"(0) : "memory");
  __builtin_unreachable();
}

// Starts a thread at whose end the kernel wakes those who wait on the page.
std::string WakeByAThread(const Targets&) {
  static uintptr_t stack[512];
  // The thread returns from the system call to what is on top of its stack.
  stack[500] = reinterpret_cast<uintptr_t>(&EndThread);
  constexpr unsigned long kFlags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
      CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  static int parent_tid;
  long result;
  register long child asm("r10") = reinterpret_cast<long>(PageOfLibc());
  register long tls asm("r8") =
      reinterpret_cast<long>(__builtin_thread_pointer());
  asm volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jnz 1f\n"
      "ret\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(kFlags), "S"(&stack[500]), "d"(&parent_tid),
        "r"(child), "r"(tls)
      : "rcx", "r11", "memory");
  if (result < 0) {
    errno = static_cast<int>(-result);
    return Answer(-1);
  }
  return Answer(0);
}

std::string WakeAtEnd(long number) {
  return Answer(syscall(number, PageOfLibc(), 3 * sizeof(void*)));
}

// Would map more of the file than was mapped while loading, which the kernel
// then reads.
std::string MapMoreOfAFile(const Targets&) {
  void* const more = mremap(PageOfLibc(), kPage, 2 * kPage, MREMAP_MAYMOVE);
  if (more == MAP_FAILED) return Answer(-1);
  munmap(more, 2 * kPage);
  return Answer(0);
}

// Moves a page of a file to where no file was mapped at lock-down, then wakes
// those who wait on it.
std::string MovePageOfFile(unsigned long flags) {
  if (mapped_file == nullptr) return "not mapped";
  void* const place = mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const moved = mremap(const_cast<char*>(mapped_file), kPage, kPage,
                             static_cast<int>(MREMAP_MAYMOVE | flags), place);
  if (moved == MAP_FAILED) return Answer(-1);
  return Answer(syscall(SYS_futex, moved, FUTEX_WAKE, 1, 0, 0, 0));
}

// Wakes at a word of its own, and then on the page.
std::string WakeBoth(int command, unsigned operation) {
  uint32_t word = 0;
  return Answer(
      syscall(SYS_futex, &word, command, 1, 1, PageOfLibc(), operation));
}

// Tries to free a number that the worker's memory could get, and that may be
// mapped.
std::string CloseFixedDescriptors(const Targets&) {
  std::string answer;
  for (int fd = 0; fd <= 3; ++fd) {
    const std::string next = Answer(syscall(SYS_close, fd));
    if (!answer.empty() && next != answer) return next;
    answer = next;
  }
  return answer;
}

// Would receive the same descriptors twice.
std::string PeekAtSocket(const Targets&) {
  msghdr message = {};
  return Answer(recvmsg(3, &message, MSG_PEEK | MSG_DONTWAIT));
}

// Returns the descriptor of the media, a file.
int Media() {
  for (int fd = 3; fd < 64; ++fd) {
    struct stat file;
    if (syscall(SYS_fstat, fd, &file) == 0 && S_ISREG(file.st_mode)) return fd;
  }
  return -1;
}

std::string MapMedia(const Targets&) {
  void* const page = mmap(nullptr, kPage, PROT_READ, MAP_SHARED, Media(), 0);
  return Answer(page == MAP_FAILED ? -1 : 0);
}

// Brings every 64th page of the file into memory, if it is not there.
std::string TouchFile(const Targets&) {
  if (mapped_file == nullptr) return "not mapped";
  // Without pages around it.
  madvise(const_cast<char*>(mapped_file), kMappedBytes, MADV_RANDOM);
  for (size_t i = 0; i < kMappedBytes; i += 64 * kPage) (void)mapped_file[i];
  return "ok";
}

std::string DropFromMemory(int advice) {
  return Answer(madvise(PageOfLibc(), kPage, advice));
}

}  // namespace

std::vector<Attempt> SharedPageAttempts() {
  constexpr const char* kNone = "n/a: it has no media";
  return {
      {74, "wake_page_of_file", {kNoMedia, "E:EINVAL"}, Wake},
      {74, "wait_page_of_file", {"E:ETIMEDOUT|allowed", "E:EAGAIN"}, Wait},
      {74, "wake_by_end_of_thread", {kNoMedia, "E:EAGAIN"}, WakeByAThread},
      {74,
       "wake_by_tid_address",
       {"E:EPERM", "E:EPERM"},
       [](const Targets&) { return WakeAtEnd(SYS_set_tid_address); }},
      {74,
       "wake_by_robust_list",
       {kNone, "E:EPERM"},
       [](const Targets&) { return WakeAtEnd(SYS_set_robust_list); }},
      {74, "wake_op_page_of_file", Everywhere("E:EINVAL"),
       [](const Targets&) { return WakeBoth(FUTEX_WAKE_OP, 0); }},
      {72, "wake_op_shifted_too_far", Everywhere("E:ENOSYS"),
       [](const Targets&) {
         return WakeBoth(
             FUTEX_WAKE_OP_PRIVATE,
             FUTEX_OP(FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 40, 0, 0));
       }},
      {74,
       "move_page_of_file",
       {kNone, "E:EPERM"},
       [](const Targets&) { return MovePageOfFile(MREMAP_FIXED); }},
      {74,
       "copy_page_of_file",
       {kNone, "E:EPERM"},
       [](const Targets&) { return MovePageOfFile(MREMAP_DONTUNMAP); }},
      {74,
       "close_fixed_descriptors",
       {kNone, "E:EBADF"},
       CloseFixedDescriptors},
      {74, "peek_at_descriptors", {kNone, "E:EPERM"}, PeekAtSocket},
      {74, "map_media", {kNone, "E:EACCES"}, MapMedia},
      {74,
       "renumber_media",
       {kNone, "E:EPERM"},
       [](const Targets&) { return Answer(fcntl(Media(), F_DUPFD, 4)); }},
      {75,
       "map_more_of_file",
       {"n/a: it may open files", "E:EPERM"},
       MapMoreOfAFile},
      {75, "touch_file", {kNone, "ok"}, TouchFile},
      {75,
       "page_out",
       {kNoMedia, "E:EINVAL"},
       [](const Targets&) { return DropFromMemory(MADV_PAGEOUT); }},
      {75,
       "page_cold",
       {kNoMedia, "E:EINVAL"},
       [](const Targets&) { return DropFromMemory(MADV_COLD); }},
  };
}

}  // namespace bulkhead::tests
