// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace bulkhead::cli::conformance {

// The outcome of one check of a backend.
class Verdict {
 public:
  enum class Kind { kPassed, kFailed, kNotTried };

  static Verdict Passed() { return Verdict(Kind::kPassed, "", ""); }
  // `clause` is the id of the broken clause of bulkhead_backend.h, such as
  // "flush-1". `words` say how the backend broke it.
  static Verdict Failed(std::string clause, std::string words) {
    return Verdict(Kind::kFailed, std::move(clause), std::move(words));
  }
  // `words` say why the check could not be made, such as a missing encoder.
  static Verdict NotTried(std::string words) {
    return Verdict(Kind::kNotTried, "", std::move(words));
  }

  // Returns the same outcome in other words.
  Verdict InWords(std::string words) const {
    return Verdict(kind_, clause_, std::move(words));
  }

  bool passed() const { return kind_ == Kind::kPassed; }
  Kind kind() const { return kind_; }
  const std::string& clause() const { return clause_; }
  const std::string& words() const { return words_; }

 private:
  Verdict(Kind kind, std::string clause, std::string words)
      : kind_(kind), clause_(std::move(clause)), words_(std::move(words)) {}

  Kind kind_;
  std::string clause_;
  std::string words_;
};

// The result of one check, as a line of the report.
struct Finding {
  std::string check;  // "decodes h264"
  // The clause that the check tests. After a failure, the verdict's clause.
  std::string clause;
  Verdict verdict;
  double seconds = 0;
  // The time that the backend `cpu` takes for the same work; nullopt if the
  // check has no such comparison.
  std::optional<double> cpu_seconds;
};

}  // namespace bulkhead::cli::conformance
