// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu`, which says what its process has in common with others.
// With the option `report`, open fails, and the reason is the report:
//
//   token=   drawn while the object was loaded
//   object=, stack=, heap=, libc=   addresses
//   opened=  how often this process has opened a stream
//
// While it is loaded, it reads `given/load` beside its folder, if that was
// granted: "null" makes it return no table, "abort" ends the process, "hang"
// never returns.

#include <dlfcn.h>
#include <poll.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/bulkhead_backend.h"

namespace {

struct Process {
  uint64_t token = 0;
  int opened = 0;
  std::string report;
};
Process process;

const bulkhead_backend& Honest() { return *bulkhead_cpu_backend(); }

std::string Report() {
  const int local = 0;
  void* const allocated = std::malloc(1);
  std::ostringstream text;
  text << std::hex << "report token=" << process.token << " object=" << &process
       << " stack=" << static_cast<const void*>(&local) << " heap=" << allocated
       << " libc=" << dlsym(RTLD_DEFAULT, "malloc")
       << " opened=" << process.opened << " ";
  std::free(allocated);
  return text.str();
}

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const bulkhead_device device = {
      .size = sizeof(device), .name = "layout", .description = "says where"};
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  ++process.opened;
  process.report.clear();
  for (size_t i = 0; i < parameters->option_count; ++i) {
    if (std::strcmp(parameters->options[i].key, "report") != 0) continue;
    process.report = Report();
    return BULKHEAD_UNSUPPORTED;
  }
  return Honest().open(parameters, runtime, decoder);
}

const char* LastError(bulkhead_decoder* decoder) {
  return process.report.empty() ? Honest().last_error(decoder)
                                : process.report.c_str();
}

std::string ReadOrder() {
  Dl_info self;
  if (dladdr(&process, &self) == 0) return "";
  const std::string library = self.dli_fname;
  const std::string folder = library.substr(0, library.rfind('/'));
  std::ifstream file(folder.substr(0, folder.rfind('/')) + "/given/load");
  std::string order;
  file >> order;
  return order;
}

}  // namespace

extern "C" const bulkhead_backend* bulkhead_layout_backend(void) {
  std::random_device random;
  process.token = uint64_t{random()} << 32 | random();
  const std::string order = ReadOrder();
  if (order == "null") return nullptr;
  if (order == "abort") std::abort();
  while (order == "hang") ::poll(nullptr, 0, -1);
  static bulkhead_backend table = Honest();
  table.name = "layout";
  table.enumerate_devices = EnumerateDevices;
  table.open = Open;
  table.last_error = LastError;
  return &table;
}
