// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// The attempts of the escape table, each one thing that a vendor's code could
// try from inside. Linked into the backend, which makes them, and into the
// test, which knows what should come of them.
//
// An attempt uses descriptors and pointers that are not valid wherever it can:
// EBADF or EFAULT then says that the kernel's own code was reached, which is a
// failure of the filter even though nothing happened.

// Whom to attack; the test writes them into a file of the distribution, since a
// backend has no environment.
struct Targets {
  bool reduced = false;       // the tier
  bool in_zygote = false;     // the stage; set by the backend
  int application_pid = 0;    // outside of the sandbox
  int sibling_pid = 0;        // a worker of another backend
  int tcp_port = 0;           // somebody listens
  std::string unix_path;      // somebody listens
  std::string abstract_name;  // somebody listens
  std::string secret_file;    // anybody may read it
  std::string other_file;     // of another backend
  std::string own_file;       // of this distribution

  // Names and values, as text; `own_file` is where it was read from.
  static Targets Read(const std::string& file);
  std::string Write() const;
};

// What should come of an attempt:
//   "K"             the filter kills the process
//   "E:A|B"         the call fails with errno A or B, the process lives
//   "L:A"           a limit refuses with errno A
//   "C:how"         it has its way with its own process, and that is all
//   "ok"            what was looked at is as it has to be
//   "allowed: why"  it succeeds, and that is on purpose
//   "n/a: why"      it is not made here
struct Expected {
  const char* zygote;
  const char* session;
  // Where tier reduced differs.
  const char* zygote_reduced = nullptr;
  const char* session_reduced = nullptr;

  std::string_view For(const Targets& targets) const;
};

struct Attempt {
  int row;
  const char* name;
  Expected expected;
  // "allowed", the name of an errno, "ok", or what was found in its place.
  // Null: system call `number` with arguments none of which is valid.
  std::string (*run)(const Targets&);
  long number = 0;

  std::string Run(const Targets& targets) const;
};

constexpr Expected kKilled = {"K", "K"};
constexpr Expected Everywhere(const char* expected) {
  return {expected, expected};
}
// System call `number`, none of whose arguments is valid.
constexpr Attempt Call(int row, const char* name, long number,
                       Expected expected = kKilled) {
  return {row, name, expected, nullptr, number};
}

// "allowed", or the name of errno where `result` is negative.
std::string Answer(long result);
// "ok", or `found`.
std::string Check(bool holds, const std::string& found);

// By the sections of the table. `name` is unique.
std::vector<Attempt> SystemCallAttempts();    // rows 1 to 6
std::vector<Attempt> ProcessAttempts();       // rows 7 to 15
std::vector<Attempt> KernelAttempts();        // rows 16 to 26
std::vector<Attempt> CodeAttempts();          // rows 27 to 31
std::vector<Attempt> FileAttempts();          // rows 32 to 39
std::vector<Attempt> NetworkAttempts();       // rows 40 to 48
std::vector<Attempt> ResourceAttempts();      // rows 49 to 58
std::vector<Attempt> SharedMemoryAttempts();  // rows 59 and 69
std::vector<Attempt> AllAttempts();

bool IsHarmless(std::string_view expected);  // the process lives on unchanged
bool Matches(std::string_view expected, const std::string& got);

}  // namespace bulkhead::tests
