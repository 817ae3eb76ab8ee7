// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with vendor code in the zygote that keeps a process for
// itself: the worker that is cloned for the next session, for which nobody
// waits. By hooks in bulkhead-worker, the third clone (after the one for the
// devices and the first session's) sleeps before its lock-down. The
// zygote names it (`unlocked`), or swallows the message that does (`unnamed`).

#include <elf.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::tests {
namespace {

constexpr int kSpare = 3;
constexpr uintptr_t kPage = 4096;

bool names_it = false;
bool swallowed = false;
int clones = 0;
bool in_spare = false;

long HookedSystemCall(long number, long a, long b, long c, long d, long e,
                      long f) {
  while (in_spare && number == SYS_close_range) poll(nullptr, 0, -1);
  const long result = syscall(number, a, b, c, d, e, f);
  if (number == SYS_clone) in_spare = ++clones == kSpare && result == 0;
  return result;
}

ssize_t HookedSend(int socket, const void* message, size_t bytes, int flags) {
  if (clones == kSpare && !names_it && !swallowed) {
    swallowed = true;
    return static_cast<ssize_t>(bytes);
  }
  return send(socket, message, bytes, flags);
}

void Hook(const ElfW(Addr) base, const ElfW(Dyn) * entry) {
  const ElfW(Rela)* relocations = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  size_t bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    const ElfW(Addr) at = entry->d_un.d_ptr;
    if (entry->d_tag == DT_JMPREL) {
      relocations = reinterpret_cast<const ElfW(Rela)*>(at);
    } else if (entry->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(at);
    } else if (entry->d_tag == DT_STRTAB) {
      names = reinterpret_cast<const char*>(at);
    } else if (entry->d_tag == DT_PLTRELSZ) {
      bytes = entry->d_un.d_val;
    }
  }
  for (size_t i = 0; i < bytes / sizeof(*relocations); ++i) {
    const auto& relocation = relocations[i];
    const char* const name =
        names + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
    void* hook = nullptr;
    if (std::strcmp(name, "syscall") == 0) {
      hook = reinterpret_cast<void*>(HookedSystemCall);
    } else if (std::strcmp(name, "send") == 0) {
      hook = reinterpret_cast<void*>(HookedSend);
    } else {
      continue;
    }
    const uintptr_t place = base + relocation.r_offset;
    void* const page = reinterpret_cast<void*>(place & ~(kPage - 1));
    if (mprotect(page, kPage, PROT_READ | PROT_WRITE) == 0) {
      *reinterpret_cast<void**>(place) = hook;
    }
  }
}

const bulkhead_backend* HookedBackend(bool names) {
  names_it = names;
  dl_iterate_phdr(
      [](dl_phdr_info* program, size_t, void*) {
        for (int i = 0; i < program->dlpi_phnum; ++i) {
          const auto& header = program->dlpi_phdr[i];
          if (header.p_type != PT_DYNAMIC) continue;
          Hook(program->dlpi_addr, reinterpret_cast<const ElfW(Dyn)*>(
                                       program->dlpi_addr + header.p_vaddr));
        }
        return 1;  // the first one is the program itself
      },
      nullptr);
  static bulkhead_backend table = *bulkhead_cpu_backend();
  table.name = "late";
  table.enumerate_devices = [](const bulkhead_runtime*,
                               void (*emit)(void*, const bulkhead_device*),
                               void* context) {
    const bulkhead_device device = {
        .size = sizeof(device), .name = "late", .description = "keeps a spare"};
    emit(context, &device);
    return BULKHEAD_OK;
  };
  return &table;
}

}  // namespace
}  // namespace bulkhead::tests

extern "C" {

const bulkhead_backend* unnamed() {
  return bulkhead::tests::HookedBackend(/*names=*/false);
}

const bulkhead_backend* unlocked() {
  return bulkhead::tests::HookedBackend(/*names=*/true);
}
}
