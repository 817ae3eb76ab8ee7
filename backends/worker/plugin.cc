// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/plugin.h"

#include <dlfcn.h>

#include <exception>

#include "backends/worker/media/decoder.h"

namespace bulkhead::worker {

ipc::Expected<const bulkhead_backend*> LoadPlugin(const std::string& path,
                                                  const std::string& symbol) {
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        std::string("the dynamic linker refuses it: ") + ::dlerror());
  }
  const auto entry =
      reinterpret_cast<bulkhead_backend_entry>(::dlsym(object, symbol.c_str()));
  if (!entry) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        std::string("it lacks its entry function: ") + ::dlerror());
  }
  const bulkhead_backend* backend = nullptr;
  try {
    backend = entry();
  } catch (const std::exception& exception) {
    return ipc::Fail(
        ipc::Code::kBackendUnavailable,
        "its entry function " + symbol + " threw: " + exception.what());
  } catch (...) {
    return ipc::Fail(ipc::Code::kBackendUnavailable,
                     "its entry function " + symbol + " threw");
  }
  if (auto valid = ValidateBackend(backend); !valid) {
    return tl::unexpected(std::move(valid).error());
  }
  return backend;
}

}  // namespace bulkhead::worker
