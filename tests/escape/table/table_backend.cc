// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with hostile vendor code. While it is loaded, it makes the
// attempts of the zygote stage. Each stream makes the attempts of the session
// stage that its options name, before it opens:
//
//   attempt=NAME   makes this attempt; the stream fails with the outcome
//   later=NAME     decodes the stream, then makes this attempt at its end
//   harmless=all   makes every attempt that the process should survive, then
//                  decodes the stream to its end. The end fails with the number
//                  of attempts, or with the attempts that had another outcome
//   zygote=FROM    fails with the zygote's outcomes from number FROM on
//   zygote=itself  decodes as above; the end fails with what the zygote made
//                  last
//
// The table says which attempts kill. Those are not among the harmless ones.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/escape/table/attempt.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

// Less than the host accepts in one message.
constexpr size_t kMostBytes = 380;

Targets targets;
std::vector<Attempt> attempts;
std::vector<std::string> zygote_outcomes;
std::string made_by_zygote;
const Attempt* later = nullptr;
// The message of the failure at the end of the stream or at opening.
std::string sentence;

std::string Directory() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&Directory), &self) == 0) return "";
  const std::string library = self.dli_fname;
  return library.substr(0, library.rfind('/') + 1);
}

const Attempt* Find(const std::string& name) {
  for (const Attempt& attempt : attempts) {
    if (attempt.name == name) return &attempt;
  }
  return nullptr;
}

// Makes an attempt in the zygote itself, on a thread if the name begins with
// '@'.
void MakeOne(std::string name) {
  const bool on_thread = name.starts_with("@");
  if (on_thread) name.erase(0, 1);
  const Attempt* attempt = Find(name);
  if (attempt == nullptr) return;
  std::string outcome;
  const auto run = [&] { outcome = attempt->Run(targets); };
  if (!on_thread) {
    run();
  } else {
    std::thread(run).join();
  }
  made_by_zygote = "outcome: " + outcome + ";";
}

// Makes each harmless attempt of the zygote and stores the outcomes. The others
// are left to zygotes of their own.
void MakeHarmlessWhileLoading() {
  for (const Attempt& attempt : attempts) {
    const std::string_view expected = attempt.expected.For(targets);
    zygote_outcomes.push_back(expected.starts_with("n/a") ? "n/a"
                              : IsHarmless(expected)      ? attempt.Run(targets)
                                                          : kNotMade);
  }
}

// Makes the harmless attempts. Returns their number, or those with another
// outcome.
std::string MakeHarmless() {
  std::string wrong;
  int made = 0;
  for (const Attempt& attempt : attempts) {
    if (!IsHarmless(attempt.expected.For(targets))) continue;
    ++made;
    const std::string got = attempt.Run(targets);
    if (Matches(attempt.expected.For(targets), got)) continue;
    wrong += std::string(attempt.name) + " " + got + ", ";
  }
  if (!wrong.empty()) return "outcome: " + wrong.substr(0, kMostBytes) + ";";
  return "outcome: made " + std::to_string(made) + ";";
}

std::string ZygoteOutcomes(size_t from) {
  std::string text = "outcome: ";
  for (size_t i = from; i < zygote_outcomes.size(); ++i) {
    if (text.size() + zygote_outcomes[i].size() > kMostBytes) break;
    text += zygote_outcomes[i] + ",";
  }
  return text + ";";
}

constexpr bulkhead_device kDevice = {
    .size = sizeof(kDevice), .name = "escape", .description = "a way out"};

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  sentence.clear();
  targets.in_zygote = false;
  for (size_t i = 0; i < parameters->option_count; ++i) {
    const std::string key = parameters->options[i].key;
    const std::string value = parameters->options[i].value;
    if (key == "later") {
      later = Find(value);
      continue;
    }
    if (key == "harmless") {
      sentence = MakeHarmless();
      continue;
    }
    if (key == "zygote" && value == "itself") {
      sentence = made_by_zygote;
      continue;
    }
    if (key == "zygote") sentence = ZygoteOutcomes(std::stoul(value));
    if (key == "attempt") {
      const Attempt* attempt = Find(value);
      sentence = "outcome: " +
                 (attempt != nullptr ? attempt->Run(targets) : "no such name") +
                 ";";
    }
    return BULKHEAD_UNSUPPORTED;
  }
  bulkhead_open_parameters without_options = *parameters;
  without_options.option_count = 0;
  return Honest().open(&without_options, runtime, decoder);
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  const bulkhead_result result = Honest().receive_frame(decoder, frame);
  if (result == BULKHEAD_END_OF_STREAM && later != nullptr) {
    sentence = "outcome: " + later->Run(targets) + ";";
  }
  return result == BULKHEAD_END_OF_STREAM && !sentence.empty()
             ? BULKHEAD_UNSUPPORTED
             : result;
}

const char* LastError(bulkhead_decoder* decoder) {
  return sentence.empty() ? Honest().last_error(decoder) : sentence.c_str();
}

void MapFile() {
  const int file =
      open((Directory() + kMappedFile).c_str(), O_RDONLY | O_CLOEXEC);
  void* const bytes =
      mmap(nullptr, kMappedBytes, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes != MAP_FAILED) mapped_file = static_cast<char*>(bytes);
}

// Removes the pages of the file from the zygote's own memory for as long as it
// lives, so that only others hold them.
void ReleaseFile() {
  std::thread([] {
    for (;;) {
      madvise(const_cast<char*>(mapped_file), kMappedBytes, MADV_DONTNEED);
      // bound: leaves the processor to the sessions.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }).detach();
}

// A session would be cloned with it blocked.
void BlockOneSignal() {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGFPE);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
}

std::vector<std::string> ReadDeeds() {
  std::ifstream file(Directory() + "deed.txt");
  return {std::istream_iterator<std::string>(file), {}};
}

// Runs as a constructor of the library, before the worker looks up the entry
// point.
bool Attack() {
  attempts = AllAttempts();
  targets = Targets::Read(Directory() + "targets.txt");
  targets.in_zygote = true;
  MapFile();
  BlockOneSignal();
  for (const std::string& deed : ReadDeeds()) {
    if (deed == "all") {
      MakeHarmlessWhileLoading();
      made_by_zygote = MakeHarmless();
    } else if (deed == "release_file") {
      ReleaseFile();
    } else {
      MakeOne(deed);
    }
  }
  return true;
}
[[maybe_unused]] const bool attacked = Attack();

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_escape_table_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "escape";
  table.enumerate_devices = EnumerateOne<kDevice>;
  table.open = Open;
  table.receive_frame = ReceiveFrame;
  table.last_error = LastError;
  return &table;
}
