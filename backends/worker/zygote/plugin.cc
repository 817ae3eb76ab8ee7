// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/plugin.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <exception>

#include "backends/worker/media/decoder.h"
#include "ipc/backend_environment.h"
#include "ipc/try.h"

namespace bulkhead::worker {
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

}  // namespace

ipc::Expected<void> CheckIsObject(const std::string& path, int object) {
  struct stat visible = {};
  struct stat opened = {};
  if (::stat(path.c_str(), &visible) != 0 || ::fstat(object, &opened) != 0) {
    return ipc::FailErrno(ipc::Code::kBackendUnavailable,
                          "the shared object " + path + " cannot be examined",
                          errno);
  }
  if (visible.st_dev != opened.st_dev || visible.st_ino != opened.st_ino) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "the shared object " + path +
                         " was replaced while it was being loaded; try again");
  }
  return {};
}

ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  const std::string& symbol) {
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        std::string("the dynamic linker refuses the shared object: ") +
            ::dlerror());
  }
  const auto entry =
      reinterpret_cast<bulkhead_backend_entry>(::dlsym(object, symbol.c_str()));
  if (!entry) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        std::string("the shared object lacks the entry function: ") +
            ::dlerror());
  }
  auto backend = Call(entry, symbol);
  // This cause comes first: the refusal may have made the entry function fail
  // in other ways, which would be reported instead.
  if (::getenv(ipc::kRefusedInsideVariable) != nullptr) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        "the backend starts Bulkhead from inside a backend, which is refused: "
        "a backend decodes, and only the application starts Bulkhead");
  }
  if (!backend) return backend;
  IPC_TRY(ValidateBackend(*backend));
  return backend;
}

}  // namespace bulkhead::worker
