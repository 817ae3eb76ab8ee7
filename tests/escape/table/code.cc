// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kPage = 4096;

std::string Map(int protection) {
  void* page =
      mmap(nullptr, kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return Answer(-1);
  munmap(page, kPage);
  return "allowed";
}

// Writes code to memory, then makes the memory executable and runs the code.
std::string WriteThenExecute(long call, int protection) {
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return "no memory";
  std::memset(page, 0xc3, kPage);
  const std::string answer = Answer(syscall(call, page, kPage, protection, -1));
  munmap(page, kPage);
  return answer;
}

std::string MemoryFile(unsigned flags) {
  return Answer(syscall(SYS_memfd_create, "code", flags));
}

// Tries to map every descriptor, since there is nothing else to map.
std::string MapDescriptors(const Targets&) {
  std::string answer = "EACCES";
  for (int fd = 0; fd < 64; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    void* code = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    if (code != MAP_FAILED) return "mapped " + std::to_string(fd);
    if (errno != EACCES) answer = Answer(-1);
  }
  return answer;
}

std::string LoadFromScratch(const Targets&) {
  for (const char* path : {"/tmp/x.so", "/x.so", "x.so", "/dev/shm/x.so"}) {
    if (open(path, O_RDWR | O_CREAT, 0700) >= 0) return "wrote a library";
    if (errno != EACCES) return Answer(-1);
  }
  return "EACCES";
}

std::string Environment(const Targets&) {
  std::string found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    found += std::string(*variable) + " ";
  }
  return Check(found == "TZ=UTC0 BULKHEAD_INSIDE_BACKEND=1 ", found);
}

}  // namespace

std::vector<Attempt> CodeAttempts() {
  constexpr Expected kEacces = Everywhere("E:EACCES");
  constexpr Expected kLoads = {
      "allowed: in the zygote the dynamic linker maps code", "E:EACCES"};
  return {
      {27, "map_write_execute", kEacces,
       [](const Targets&) { return Map(PROT_READ | PROT_WRITE | PROT_EXEC); }},
      {27, "map_execute", kLoads,
       [](const Targets&) { return Map(PROT_READ | PROT_EXEC); }},
      {27, "mprotect_write_execute", kEacces,
       [](const Targets&) {
         return WriteThenExecute(SYS_mprotect,
                                 PROT_READ | PROT_WRITE | PROT_EXEC);
       }},
      {27, "mprotect_execute", kLoads,
       [](const Targets&) {
         return WriteThenExecute(SYS_mprotect, PROT_READ | PROT_EXEC);
       }},
      {27, "pkey_mprotect", kKilled,
       [](const Targets&) {
         return WriteThenExecute(SYS_pkey_mprotect, PROT_READ | PROT_EXEC);
       }},
      Call(27, "pkey_alloc", SYS_pkey_alloc),
      {27, "shmat_execute", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_shmat, -1, 0, 0100000 /* SHM_EXEC */));
       }},
      Call(27, "remap_file_pages", SYS_remap_file_pages),

      {28, "memfd", Everywhere("E:EPERM"),
       [](const Targets&) { return MemoryFile(0); }},
      {28, "memfd_noexec_seal", Everywhere("E:EPERM"),
       [](const Targets&) { return MemoryFile(8 /* MFD_NOEXEC_SEAL */); }},
      Call(28, "memfd_secret", 447),
      {28,
       "map_descriptors",
       {"n/a: its only mappable descriptors are the plugin and sealed data",
        "E:EACCES"},
       MapDescriptors},

      {29, "library_in_scratch", kEacces, LoadFromScratch},
      {29, "environment", Everywhere("ok"), Environment},
      {30, "write_own_text", kEacces,
       [](const Targets&) { return Answer(open("/proc/self/mem", O_RDWR)); }},
      {30,
       "read_own_memory_file",
       {"E:ENOENT", "E:EACCES", "E:EACCES"},
       [](const Targets&) { return Answer(open("/proc/self/mem", O_RDONLY)); }},
      {31, "memfd_exec", Everywhere("E:EPERM"),
       [](const Targets&) { return MemoryFile(0x10 /* MFD_EXEC */); }},
      {31, "fexecve", kKilled,
       [](const Targets&) {
         return Answer(syscall(SYS_execveat, -1, "", 0, 0, 0x1000));
       }},
  };
}

}  // namespace bulkhead::tests
