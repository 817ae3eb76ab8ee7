// SPDX-License-Identifier: Apache-2.0
//
// A backend that decodes nothing. The entry function makes one attempt to leave
// the zygote's sandbox. `open` makes the attempt that the option `attempt`
// names, to leave the session worker's sandbox, and then fails with the outcome
// of both attempts as its message.
#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "tests/escape/attempts.h"
#include "tests/support/refusing_backend.h"

namespace bulkhead::tests {
namespace {

Targets targets;
std::string zygote_outcome = "none";

void ReadTargets() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&ReadTargets), &self) == 0) return;
  const std::string library = self.dli_fname;
  targets.own_file = library.substr(0, library.rfind('/') + 1) + "targets.txt";
  std::ifstream file(targets.own_file);
  for (std::string key; file >> key;) {
    if (key == "application_pid") file >> targets.application_pid;
    if (key == "application_secret") file >> targets.application_secret;
    if (key == "tcp_port") file >> targets.tcp_port;
    if (key == "unix_path") file >> targets.unix_path;
    if (key == "abstract_name") file >> targets.abstract_name;
    if (key == "media_bytes") file >> targets.media_bytes;
    if (key == "zygote_attempt") file >> targets.zygote_attempt;
  }
}

struct Escape : RefusingBackend {
  static constexpr const char* kName = "escape";

  static sdk::Outcome EnumerateDevices(const bulkhead_runtime&,
                                       const sdk::Emit& emit) {
    emit({.name = "escape", .description = "a way out"});
    return BULKHEAD_OK;
  }

  static sdk::Outcome Open(const bulkhead_open_parameters& parameters,
                           const bulkhead_runtime&, std::unique_ptr<Decoder>*) {
    std::string sentence = "zygote: " + zygote_outcome;
    for (size_t i = 0; i < parameters.option_count; ++i) {
      const bulkhead_option& option = parameters.options[i];
      if (std::strcmp(option.key, "attempt") != 0) continue;
      sentence += "; worker: " + Try(option.value, targets).Describe();
    }
    return {BULKHEAD_UNSUPPORTED, std::move(sentence)};
  }
};

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_escape_backend(void) {
  using namespace bulkhead::tests;
  ReadTargets();
  if (targets.zygote_attempt != "none") {
    zygote_outcome = Try(targets.zygote_attempt, targets).Describe();
  }
  return bulkhead::sdk::TableOf<Escape>();
}
