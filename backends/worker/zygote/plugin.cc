// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <exception>

#include "backends/worker/media/decode/backend_table.h"
#include "ipc/backend_environment.h"
#include "ipc/try.h"

namespace bulkhead::worker::zygote {
namespace {

ipc::Expected<const bulkhead_backend*> Call(bulkhead_backend_entry entry,
                                            const std::string& symbol) {
  try {
    return entry();
  } catch (const std::exception& exception) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        "the entry function " + symbol + " threw: " + exception.what());
  } catch (...) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the entry function " + symbol + " threw");
  }
}

// Returns the path by which the dynamic linker can load the open file `object`,
// which bulkheadd found at `path`.
ipc::Expected<std::string> LoadablePath(const std::string& path, int object) {
  struct stat visible = {};
  struct stat opened = {};
  if (::stat(path.c_str(), &visible) != 0) {
    // This process may not enter a directory of `path`. The path below leads to
    // the open file without any of these directories.
    if (errno == EACCES) return "/proc/self/fd/" + std::to_string(object);
    return ipc::FailErrno(ipc::Code::kBackendUnavailable,
                          "the shared object " + path + " cannot be examined",
                          errno);
  }
  if (::fstat(object, &opened) != 0) {
    return ipc::FailErrno(ipc::Code::kInternal,
                          "the descriptor of " + path + " cannot be examined",
                          errno);
  }
  if (visible.st_dev != opened.st_dev || visible.st_ino != opened.st_ino) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the shared object " + path +
                         " was replaced while it was being loaded; try again");
  }
  return path;
}

struct Machine {
  Elf64_Half number;
  const char* name;
};
constexpr Machine kMachines[] = {
    {EM_386, "32-bit x86"},  {EM_X86_64, "x86-64"}, {EM_ARM, "32-bit Arm"},
    {EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},  {EM_PPC64, "64-bit POWER"},
    {EM_S390, "s390"},
};
#if defined(__x86_64__)
constexpr Elf64_Half kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kThisMachine = EM_AARCH64;
#endif

std::string NameOf(Elf64_Half number) {
  for (const Machine& machine : kMachines) {
    if (machine.number == number) return machine.name;
  }
  return "the machine " + std::to_string(number) + " of ELF";
}

// Returns a sentence if the object was built for another machine, which the
// dynamic linker would report as a missing file. Returns an empty text if the
// object is for this machine or is no ELF file.
std::string ForeignTo(int object) {
  Elf64_Ehdr header = {};
  if (::pread(object, &header, sizeof(header), 0) !=
          static_cast<ssize_t>(sizeof(header)) ||
      ::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine == kThisMachine) {
    return "";
  }
  return "it was built for " + NameOf(header.e_machine) +
         ", and this machine is " + NameOf(kThisMachine) +
         ": install the release for this machine";
}

// Sets the name of a loaded object that dladdr() returns. Crash notes show it.
void Rename(void* handle, const std::string& name) {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return;
  // Lives as long as the object, which is never unloaded.
  if (char* const copy = ::strdup(name.c_str())) map->l_name = copy;
}

}  // namespace

ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  int object,
                                                  const std::string& symbol) {
  IPC_ASSIGN_OR_RETURN(const std::string loadable, LoadablePath(path, object));
  void* const handle = ::dlopen(loadable.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const std::string refusal = ::dlerror();
    const std::string foreign = ForeignTo(object);
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the dynamic linker refuses the shared object: " +
                         (foreign.empty() ? refusal : foreign));
  }
  if (loadable != path) Rename(handle, path);
  const auto entry =
      reinterpret_cast<bulkhead_backend_entry>(::dlsym(handle, symbol.c_str()));
  if (!entry) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        std::string("the shared object lacks the entry function: ") +
            ::dlerror());
  }
  auto backend = Call(entry, symbol);
  // Checked before `backend`: the refusal may have made the entry function
  // fail, and that failure would hide the cause.
  if (::getenv(ipc::kRefusedInsideVariable) != nullptr) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        "the backend starts Bulkhead from inside a backend, which is refused: "
        "a backend decodes, and only the application starts Bulkhead");
  }
  if (!backend) return backend;
  IPC_TRY(decode::ValidateBackend(*backend));
  return backend;
}

}  // namespace bulkhead::worker::zygote
