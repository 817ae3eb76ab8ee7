// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace bulkhead::blame {

// Decides when to suspect a backend, and not its inputs, of the deaths of its
// workers.
//
// One input that kills workers is a poisoned input (input_deaths.h). When
// kTooMany different inputs in a row have killed workers, without a frame in
// between, the backend may be unable to decode any input. The deaths alone do
// not prove that: a directory full of damaged files looks the same. So the
// backend is put on trial: it is started once more and decodes clips that are
// known to be good (health_check.h).
//
//     if (suspects.convicted()) return Culprit::kBackend;
//     if (suspects.Died(input)) BeginTrial();  // ends by calling Judge()
//
// After a conviction, every death of a worker is the backend's own fault, until
// the backend delivers a frame.
//
// Pure and bounded: at most kTooMany inputs are kept. Not thread-safe.
class Suspects {
 public:
  static constexpr size_t kTooMany = 3;

  // Records that `input` killed a worker. Returns whether the caller must begin
  // a trial now; never true while a trial is under way.
  bool Died(const std::string& input);
  // Clears all suspicion, since a frame was delivered or an operator restarted
  // the backend.
  void Acquit();
  // Ends the trial; `works` says whether the backend decoded the clips. The
  // result does not count if Acquit() was called during the trial.
  void Judge(bool works);
  bool convicted() const { return convicted_; }

 private:
  std::set<std::string> inputs_;
  bool on_trial_ = false;
  bool convicted_ = false;
};

}  // namespace bulkhead::blame
