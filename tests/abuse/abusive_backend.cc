// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with an option `abuse`. The option names a resource, of
// which the backend takes all that it can get and holds it until it is killed.

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/support/descriptor_flood.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kPiece = size_t{16} << 20;
constexpr int kSpinners = 4;
constexpr uint64_t kLogBytes = uint64_t{10} << 30;
constexpr int kMostTries = 1 << 20;

[[noreturn]] void Hold() {
  for (;;) syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

void* Spin(void*) {
  for (;;) getppid();
}

void* Sleep(void*) { Hold(); }

// Forks, or starts threads if fork is refused, until the kernel refuses both.
// The stacks are small, so that the address space is not the limit.
void ForkBomb() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  for (int i = 0; i < kMostTries; ++i) {
    const pid_t pid = fork();
    if (pid == 0) continue;
    pthread_t thread;
    if (pid < 0 && pthread_create(&thread, &small, Sleep, nullptr) != 0) break;
  }
}

// Allocates and touches memory until the kernel refuses.
void MemoryBomb() {
  for (;;) {
    void* piece = mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) return;
    std::memset(piece, 1, kPiece);
  }
}

// Runs out of memory as a decoder does that does not handle the failure.
void AllocationFailure() {
  for (;;) *static_cast<volatile char*>(new char[kPiece]) = 1;
}

void CpuSpin() {
  for (int i = 0; i < kSpinners; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, Spin, nullptr);
  }
  Spin(nullptr);
}

// Sends as many descriptors as it may, then opens as many as it may.
void DescriptorFlood() {
  FloodSocketWithDescriptors();
  while (dup(0) >= 0) {
  }
}

// Writes a log without line breaks, of bytes that a terminal would interpret.
void LogFlood() {
  std::array<char, 65536> chunk;
  chunk.fill('\x1b');
  for (uint64_t tried = 0; tried < kLogBytes; tried += chunk.size()) {
    (void)!write(STDERR_FILENO, chunk.data(), chunk.size());
  }
}

// Tries to make a sparse file of one petabyte. The sandbox has no place for a
// file, and the filter kills a process that asks for a memfd.
void SparseFile() {
  const long file = syscall(SYS_memfd_create, "sparse", 0);
  ftruncate(static_cast<int>(file), off_t{1} << 50) == 0 ? _exit(0) : Hold();
}

void StopItself() {
  if (kill(getpid(), SIGSTOP) == 0) _exit(0);
  if (syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP) == 0) _exit(0);
}

const std::map<std::string, void (*)()>& Abuses() {
  static const std::map<std::string, void (*)()> abuses = {
      {"fork_bomb", ForkBomb},
      {"memory_bomb", MemoryBomb},
      {"allocation_failure", AllocationFailure},
      {"cpu_spin", CpuSpin},
      {"descriptor_flood", DescriptorFlood},
      {"log_flood", LogFlood},
      {"sparse_file", SparseFile},
      {"stop_itself", StopItself},
  };
  return abuses;
}

constexpr bulkhead_device kDevice = {
    .size = sizeof(kDevice), .name = "abuse", .description = "a glutton"};

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  for (size_t i = 0; i < parameters->option_count; ++i) {
    const auto abuse = Abuses().find(parameters->options[i].value);
    if (abuse == Abuses().end()) return BULKHEAD_UNSUPPORTED;
    abuse->second();
    Hold();
  }
  return Honest().open(parameters, runtime, decoder);
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_abusive_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "abuse";
  table.enumerate_devices = EnumerateOne<kDevice>;
  table.open = Open;
  return &table;
}
