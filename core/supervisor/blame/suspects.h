// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace bulkhead::blame {

// Decides when a backend, rather than its inputs, is to be suspected.
//
// One input that kills workers is a poisoned input (input_deaths.h). When
// kTooMany different inputs in a row have killed workers of one backend, and no
// session got a frame in between, the backend may be unable to decode any
// input. The deaths alone do not prove that: a directory full of damaged files
// looks the same. So the backend is put on trial: it decodes a clip that is
// known to be good (health_check.h), which costs an honest backend one worker.
//
//     if (suspects.convicted()) return Culprit::kBackend;
//     if (suspects.Died(input)) BeginTrial();  // ends by calling Judge()
//
// Every later death of a convicted backend's workers is the backend's own
// fault, until the backend delivers a frame.
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
  // Ends the trial; `works` says whether the backend decoded the clip. The
  // result does not count if Acquit() was called during the trial.
  void Judge(bool works);
  bool convicted() const { return convicted_; }

 private:
  std::set<std::string> inputs_;
  bool on_trial_ = false;
  bool convicted_ = false;
};

}  // namespace bulkhead::blame
