// SPDX-License-Identifier: Apache-2.0
//
// A backend with one correct entry function and many that are each wrong in one
// way.

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "backends/sdk/bulkhead_backend.h"

namespace {

bulkhead_backend Good() {
  return {.size = sizeof(bulkhead_backend),
          .abi_version = BULKHEAD_ABI_VERSION,
          .name = "good",
          .version = "1",
          .enumerate_devices = [](const bulkhead_runtime*,
                                  void (*)(void*, const bulkhead_device*),
                                  void*) { return BULKHEAD_OK; },
          .open = [](const bulkhead_open_parameters*, const bulkhead_runtime*,
                     bulkhead_decoder**) { return BULKHEAD_FAILED; },
          .send_packet = [](bulkhead_decoder*,
                            const bulkhead_packet*) { return BULKHEAD_FAILED; },
          .receive_frame = [](bulkhead_decoder*,
                              bulkhead_frame*) { return BULKHEAD_FAILED; },
          .release_frame = [](bulkhead_decoder*, bulkhead_frame*) {},
          .flush = [](bulkhead_decoder*) {},
          .close = [](bulkhead_decoder*) {},
          .last_error = [](bulkhead_decoder*) { return ""; }};
}

template <typename Change>
const bulkhead_backend* With(Change change) {
  static bulkhead_backend backend = Good();
  change(backend);
  return &backend;
}

// A later release may append members that this release does not know.
struct LargerTable {
  bulkhead_backend backend = Good();
  void* later[4] = {};
};

// Maps every second page of this machine's libraries until there are so many.
void MapPages(int count) {
  namespace fs = std::filesystem;
  for (const auto& library :
       fs::directory_iterator("/usr/lib/x86_64-linux-gnu")) {
    std::error_code error;
    if (!library.is_regular_file(error)) continue;
    const int file = ::open(library.path().c_str(), O_RDONLY | O_CLOEXEC);
    const off_t size = ::lseek(file, 0, SEEK_END);
    for (off_t at = 0; at < size && count > 0; at += off_t{2} * 4096, --count) {
      ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, at);
    }
    ::close(file);
  }
}

}  // namespace

extern "C" {

const bulkhead_backend* good() {
  return With([](bulkhead_backend&) {});
}

const bulkhead_backend* null_table() { return nullptr; }

const bulkhead_backend* other_abi() {
  return With([](bulkhead_backend& b) { b.abi_version = 77; });
}

const bulkhead_backend* table_with_holes() {
  return With([](bulkhead_backend& b) { b.flush = nullptr; });
}

const bulkhead_backend* small_table() {
  return With([](bulkhead_backend& b) {
    b.size = offsetof(bulkhead_backend, receive_frame);
  });
}

const bulkhead_backend* empty_table() {
  return With([](bulkhead_backend& b) { b.size = 0; });
}

const bulkhead_backend* larger_table() {
  static LargerTable table;
  table.backend.size = sizeof(table);
  return &table.backend;
}

const bulkhead_backend* throws_exception() {
  throw std::runtime_error("no licence");
}

const bulkhead_backend* throws_number() { throw 7; }

const bulkhead_backend* segfaults() {
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
  return nullptr;
}

const bulkhead_backend* aborts() { std::abort(); }

const bulkhead_backend* exits_zero() { std::exit(0); }

const bulkhead_backend* exits_three() { ::_exit(3); }

const bulkhead_backend* maps_many_parts() {
  MapPages(10'000);  // some are of libraries that are loaded
  return good();
}

const bulkhead_backend* hangs() {
  for (;;) ::poll(nullptr, 0, -1);
}

const bulkhead_backend* spins() {
  static volatile unsigned turns = 0;
  for (;;) turns = turns + 1;
}
}
