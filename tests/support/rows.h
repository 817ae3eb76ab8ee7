// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::tests {

// The rows of tests/rows.txt: what a worker may try in order to escape, and the
// faults that a host may meet. A test that proves a row compares an outcome of
// it here. The comparison also records the outcome among the results of the
// running test, from which tools/rows prints the table. So the table has no
// outcome that was not compared, and no row that only a comment names.
//
//   ExpectOutcome(Fault(13), "killed in each life", Code::kPoisonedInput,
//                 status);
//
// `what` sets the outcomes of a row apart; the last one of the same name in the
// same test counts. Call from the thread of the test.
struct TableRow {
  const char* table;
  int number;
};
constexpr TableRow Escape(int number) { return {"escape", number}; }
constexpr TableRow Fault(int number) { return {"fault", number}; }

// Expects that `got` is `expected`.
void ExpectOutcome(TableRow row, const std::string& what,
                   const std::string& expected, const std::string& got);

// Expects that a call ended with this code. `Status` is Result's error type;
// tests of ipc and of other parts without it use the texts above.
template <typename Code, typename Status>
requires requires(const Status& status) { CodeName(status.code()); }
void ExpectOutcome(TableRow row, const std::string& what, Code expected,
                   const Status& got) {
  ExpectOutcome(row, what, std::string(CodeName(expected)),
                CodeName(got.code()));
}

// Expects the same frames, given by their hashes, and at least one.
void ExpectSameFrames(TableRow row, const std::string& what,
                      const std::vector<std::string>& expected,
                      const std::vector<std::string>& got);

// Expects that `got` is at most `most`. `unit` is the noun of both numbers.
void ExpectAtMost(TableRow row, const std::string& what, int64_t most,
                  int64_t got, const std::string& unit);

}  // namespace bulkhead::tests
