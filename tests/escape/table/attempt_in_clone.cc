// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/attempt_in_clone.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace bulkhead::tests {
namespace {

// The zygote and its clones share no memory and can make no pipe. They share
// what they have opened: a clone writes to the offsets of files that nobody
// reads. No file system here ends below 2^40 bytes.
constexpr size_t kBytesEach = 5;
constexpr size_t kFiles = 12;
constexpr size_t kClones = 10;
constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 2'000'000};
// A clone whose heart did not beat for so many pauses is dead. A busy machine
// may keep a live one from a processor for a while.
constexpr int kPatience = 500;
constexpr int kMostPauses = 10'000;

// The descriptors through which one clone speaks.
struct Line {
  std::array<int, kFiles> outcome;
  int fault;
  int beat;
};

std::array<Line, kClones> lines;
bool lines_are_open = false;
// The line of this process, if it is a clone.
const Line* own_line = nullptr;

bool OpenLines(const std::string& file) {
  if (lines_are_open) return true;
  const auto open_it = [&] { return open(file.c_str(), O_RDONLY | O_CLOEXEC); };
  for (Line& line : lines) {
    for (int& each : line.outcome) each = open_it();
    line.fault = open_it();
    line.beat = open_it();
  }
  lines_are_open = lines.back().beat >= 0;
  return lines_are_open;
}

off_t Take(int file) {
  const off_t value = lseek(file, 0, SEEK_CUR);
  lseek(file, 0, SEEK_SET);
  return value;
}

void WriteOutcome(std::string text) {
  // A first byte tells an empty outcome from none. The first file is written
  // last: once it has an offset, the outcome is complete.
  text.insert(text.begin(), '!');
  text.resize(std::min(text.size(), kFiles * kBytesEach));
  for (size_t file = kFiles; file-- > 0;) {
    off_t offset = 0;
    for (size_t i = 0; i < kBytesEach; ++i) {
      const size_t at = file * kBytesEach + i;
      const off_t byte =
          at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
      offset |= byte << (8 * i);
    }
    lseek(own_line->outcome[file], offset, SEEK_SET);
  }
}

// Returns the outcome after its first byte, or nullopt if there is none yet.
std::optional<std::string> TakeOutcome(const Line& line) {
  if (lseek(line.outcome[0], 0, SEEK_CUR) == 0) return std::nullopt;
  std::string text;
  for (const int file : line.outcome) {
    for (off_t rest = Take(file); rest != 0; rest >>= 8) {
      text += static_cast<char>(rest & 0xff);
    }
  }
  return text.substr(1);
}

[[noreturn]] void* Beat(void*) {
  for (;;) {
    lseek(own_line->beat, 1, SEEK_CUR);
    nanosleep(&kPause, nullptr);
  }
}

[[noreturn]] void RunAndReport(const Attempt& attempt, const Targets& targets,
                               const Line& line) {
  own_line = &line;
  for (const int fault : kFaults) {
    signal(fault, [](int number) {
      lseek(own_line->fault, number, SEEK_SET);
      _exit(1);
    });
  }
  pthread_t heart;
  if (pthread_create(&heart, nullptr, Beat, nullptr) != 0) _exit(1);
  WriteOutcome(attempt.Run(targets));
  _exit(0);
}

// A clone that runs, as the zygote sees it.
struct Clone {
  const Line* line;
  off_t beat = 0;
  int silence = 0;  // pauses since the last beat
};

// Returns the outcome of a clone, or nullopt while it runs.
std::optional<std::string> Look(Clone& clone) {
  if (auto outcome = TakeOutcome(*clone.line)) return outcome;
  const off_t beat = lseek(clone.line->beat, 0, SEEK_CUR);
  clone.silence = beat == clone.beat ? clone.silence + 1 : 0;
  clone.beat = beat;
  if (const off_t fault = Take(clone.line->fault)) {
    return "signal " + std::to_string(fault);
  }
  if (clone.silence < kPatience) return std::nullopt;
  return "K";
}

// Runs at most kClones attempts at the same time.
void RunSome(std::span<const Attempt* const> attempts, const Targets& targets,
             std::vector<std::string>& outcomes) {
  std::vector<Clone> clones;
  std::vector<std::optional<std::string>> found(attempts.size());
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Line& line = lines[i];
    const long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr,
                             nullptr, nullptr, 0);
    if (pid == 0) RunAndReport(*attempts[i], targets, line);
    if (pid < 0) found[i] = "no clone: " + Answer(pid);
    clones.push_back({.line = &line});
  }
  const auto all_found = [&] {
    return std::all_of(found.begin(), found.end(),
                       [](const auto& each) { return each.has_value(); });
  };
  for (int pause = 0; pause < kMostPauses && !all_found(); ++pause) {
    nanosleep(&kPause, nullptr);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) found[i] = Look(clones[i]);
    }
  }
  for (size_t i = 0; i < found.size(); ++i) {
    outcomes.push_back(found[i].value_or("endless"));
    Take(lines[i].beat);
  }
}

}  // namespace

std::vector<std::string> RunInClones(
    const std::vector<const Attempt*>& attempts, Targets& targets) {
  std::vector<std::string> outcomes;
  if (!OpenLines(targets.own_file)) {
    return {attempts.size(), "no files to share"};
  }
  targets.spare_descriptors = kClones * (kFiles + 2);
  const std::span<const Attempt* const> all(attempts);
  for (size_t i = 0; i < all.size(); i += kClones) {
    RunSome(all.subspan(i, std::min(kClones, all.size() - i)), targets,
            outcomes);
  }
  return outcomes;
}

}  // namespace bulkhead::tests
