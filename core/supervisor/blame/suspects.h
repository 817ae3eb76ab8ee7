// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace bulkhead::supervisor {

// The inputs that killed workers of one backend, one after another, while no
// session got a frame from it. One such input is a poisoned one
// (poisoned_inputs.h); after kTooMany different ones it is worth asking whether
// the backend dies on everything. Deaths alone do not tell: a directory full of
// damaged files looks the same. So it is put on trial with a clip that is known
// to be good (health_check.h), which costs an honest backend one worker.
//
//     if (suspects.convicted()) return Culprit::kBackend;
//     if (suspects.Died(input)) BeginTrial();  // which ends with Judge()
//
// What a convicted backend's workers die of is its own fault, until it delivers
// a frame. Pure. Bounded: of an input that is one of too many nothing is kept.
// Not thread-safe.
class Suspects {
 public:
  static constexpr size_t kTooMany = 3;

  // True: a trial is to begin, and none is under way.
  bool Died(const std::string& input);
  // Also when a restart forgives it everything.
  void Acquit();
  // How the trial ended. It counts only if no frame was delivered meanwhile.
  void Judge(bool works);
  bool convicted() const { return convicted_; }

 private:
  std::set<std::string> inputs_;
  bool on_trial_ = false;
  bool convicted_ = false;
};

}  // namespace bulkhead::supervisor
