// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// The attempts of the escape table. Each attempt is one thing that vendor code
// could try from inside the sandbox. The attempts are linked into the backend,
// which makes them, and into the test, which knows the expected outcomes.
//
// Wherever possible, an attempt passes descriptors and pointers that are not
// valid. EBADF or EFAULT then shows that the system call passed the filter and
// reached the kernel's own code. That is a failure of the filter even though
// the call had no effect.

// The targets of the attempts. The test writes them into a file of the
// distribution, since a backend has no environment.
struct Targets {
  bool reduced = false;       // true if the tier is reduced, else full
  bool in_zygote = false;     // true in stage 1; set by the backend
  int application_pid = 0;    // a process outside the sandbox
  int sibling_pid = 0;        // a worker of another backend
  int tcp_port = 0;           // a port with a listener
  std::string unix_path;      // a socket with a listener
  std::string abstract_name;  // a socket with a listener
  std::string secret_file;    // a file that every user may read
  std::string other_file;     // a file of another backend
  std::string own_file;       // a file of this distribution

  // Read() and Write() convert to and from a text of names and values. Read()
  // sets `own_file` to `file`.
  static Targets Read(const std::string& file);
  std::string Write() const;
};

// A file of the distribution that the backend maps while it is loaded, and its
// size.
inline constexpr char kMappedFile[] = "data.bin";
inline constexpr size_t kMappedBytes = size_t{4} << 20;
// Where the backend has mapped that file.
inline const volatile char* mapped_file = nullptr;

// The expected outcome of an attempt:
//   "K"             the filter kills the process
//   "E:A|B"         the call fails with errno A or B, the process lives
//   "L:A"           a limit refuses with errno A
//   "C:how"         the attempt succeeds, but affects only its own process
//   "ok"            the state that the attempt inspects is as it should be
//   "allowed: why"  the attempt succeeds on purpose
//   "n/a: why"      the attempt is not made at this stage
struct Expected {
  const char* zygote;
  const char* session;
  // The outcomes under the reduced tier, where they differ.
  const char* zygote_reduced = nullptr;
  const char* session_reduced = nullptr;

  std::string_view For(const Targets& targets) const;
};

struct Attempt {
  int row;
  const char* name;
  Expected expected;
  // Makes the attempt. Returns "allowed", the name of an errno, "ok", or what
  // was found instead of the expected state. Null for an attempt that makes
  // system call `number` with invalid arguments.
  std::string (*run)(const Targets&);
  long number = 0;

  std::string Run(const Targets& targets) const;
};

constexpr Expected kKilled = {"K", "K"};
constexpr Expected Everywhere(const char* expected) {
  return {expected, expected};
}
// Returns the attempt to make system call `number` with invalid arguments.
constexpr Attempt Call(int row, const char* name, long number,
                       Expected expected = kKilled) {
  return {row, name, expected, nullptr, number};
}

// Returns "allowed", or the name of errno if `result` is negative.
std::string Answer(long result);
// Returns "ok" if `holds`, else `found`.
std::string Check(bool holds, const std::string& found);

// Return the attempts by section of the table. Each attempt has a unique
// `name`.
std::vector<Attempt> SystemCallAttempts();    // rows 1 to 6, 82
std::vector<Attempt> ProcessAttempts();       // rows 7 to 15, 72, 89
std::vector<Attempt> KernelAttempts();        // rows 16 to 26
std::vector<Attempt> CodeAttempts();          // rows 27 to 31
std::vector<Attempt> FileAttempts();          // rows 32 to 39
std::vector<Attempt> NetworkAttempts();       // rows 40 to 48
std::vector<Attempt> ResourceAttempts();      // rows 49 to 58
std::vector<Attempt> SharedMemoryAttempts();  // rows 59 and 69
std::vector<Attempt> SharedPageAttempts();    // rows 72, 74, 75
std::vector<Attempt> AllAttempts();

// The outcome of an attempt that one process does not make together with
// others.
inline constexpr char kNotMade[] = "not made";

// Returns whether the process lives on unchanged after this outcome.
bool IsHarmless(std::string_view expected);
bool Matches(std::string_view expected, const std::string& got);

}  // namespace bulkhead::tests
