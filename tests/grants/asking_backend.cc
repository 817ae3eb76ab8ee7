// SPDX-License-Identifier: Apache-2.0
//
// A backend that decodes nothing. The entry function makes the attempts in the
// file attempts.txt beside the shared object; each line is a verb and an
// object. `open` makes the attempts in the option `attempts`, and then fails
// with the outcomes of all attempts as its message.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "tests/support/refusing_backend.h"

namespace bulkhead::tests {
namespace {

std::string report;
int device = -1;  // opened while loading

std::string Outcome(bool done) {
  return done ? "ok" : "errno " + std::to_string(errno);
}

bool Read(const char* path) {
  char byte;
  const int fd = open(path, O_RDONLY);
  const bool done = fd >= 0 && read(fd, &byte, 1) == 1;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return done;
}

bool List(const char* path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool Write(const std::string& path) {
  for (const int flags :
       {O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_WRONLY | O_CREAT}) {
    if (open(path.c_str(), flags, 0666) >= 0) return true;
  }
  const std::string beside = path + ".new";
  return open(beside.c_str(), O_WRONLY | O_CREAT, 0666) >= 0;
}

bool UseDevice() {
  char byte = 'x';
  return read(device, &byte, 1) == 1 && byte == 0 &&
         write(device, &byte, 1) == 1;
}

bool OpenDevice(const char* path) {
  const int fd = open(path, O_RDWR);
  if (fd >= 0) device = fd;
  return fd >= 0 && UseDevice();
}

// Calls ioctl without a descriptor. EBADF says that the filter allowed the
// call.
bool Ioctl(const std::string& type) {
  errno = 0;
  ioctl(-1, static_cast<unsigned long>(type.at(0)) << 8);
  return errno == EBADF;
}

std::string LimitOf(int resource) {
  rlimit limit = {};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  return std::to_string(limit.rlim_cur);
}

std::string Try(const std::string& verb, const std::string& object) {
  if (verb == "read") return Outcome(Read(object.c_str()));
  if (verb == "list") return Outcome(List(object.c_str()));
  if (verb == "write") return Outcome(Write(object));
  if (verb == "device") return Outcome(OpenDevice(object.c_str()));
  if (verb == "held") return Outcome(UseDevice());
  if (verb == "ioctl") return Outcome(Ioctl(object));
  if (verb == "limit") {
    return LimitOf(object == "memory" ? RLIMIT_AS : RLIMIT_NPROC);
  }
  return "no such attempt";
}

void TryAll(std::istream& attempts, const std::string& stage) {
  std::string verb;
  std::string object;
  while (attempts >> verb >> object) {
    const std::string name = object.substr(object.rfind('/') + 1);
    report += stage + " " + verb + " " + name + ": " + Try(verb, object) + "; ";
  }
}

void TryWhileLoading() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&TryWhileLoading), &self) == 0) return;
  const std::string library = self.dli_fname;
  std::ifstream attempts(library.substr(0, library.rfind('/') + 1) +
                         "attempts.txt");
  TryAll(attempts, "load");
}

struct Asking : RefusingBackend {
  static constexpr const char* kName = "asking";

  static sdk::Outcome EnumerateDevices(const bulkhead_runtime&,
                                       const sdk::Emit& emit) {
    if (device >= 0) report += "probe held: " + Outcome(UseDevice()) + "; ";
    emit({.name = "asking", .description = report.c_str()});
    return BULKHEAD_OK;
  }

  static sdk::Outcome Open(const bulkhead_open_parameters& parameters,
                           const bulkhead_runtime&, std::unique_ptr<Decoder>*) {
    for (size_t i = 0; i < parameters.option_count; ++i) {
      const bulkhead_option& option = parameters.options[i];
      if (std::strcmp(option.key, "attempts") != 0) continue;
      std::istringstream attempts(option.value);
      TryAll(attempts, "session");
    }
    return {BULKHEAD_UNSUPPORTED, report};
  }
};

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_asking_backend(void) {
  using namespace bulkhead::tests;
  TryWhileLoading();
  return bulkhead::sdk::TableOf<Asking>();
}
