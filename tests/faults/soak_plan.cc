// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/soak_plan.h"

#include <signal.h>

#include <iterator>
#include <random>

namespace bulkhead::tests {
namespace {

class Dice {
 public:
  Dice(uint64_t seed, uint64_t number) {
    std::seed_seq mixed = {seed, seed >> 32, number, number >> 32};
    random_.seed(mixed);
  }

  // Returns a number in [0, end).
  size_t Below(size_t end) { return random_() % end; }
  bool OneIn(size_t count) { return Below(count) == 0; }
  template <typename Item, size_t kCount>
  const Item& Of(const Item (&items)[kCount]) {
    return items[Below(kCount)];
  }

 private:
  // Gives the same numbers with every standard library; the distributions do
  // not.
  std::mt19937_64 random_;
};

// Deaths after which the next life decodes the same frames.
constexpr const char* kDeaths[] = {"segfault", "abort", "exit:0",
                                   "exit:7",   "throw", "error:6"};
// Faults that a deadline ends. They take longer.
constexpr const char* kStalls[] = {"hang", "spin", "stop"};
constexpr size_t kStallsAreOneIn = 20;

std::string DrawFaults(Dice& dice, size_t length) {
  std::string deed = dice.OneIn(kStallsAreOneIn) ? dice.Of(kStalls)
                     : dice.OneIn(kStallsAreOneIn)
                         ? "slow:" + std::to_string(1 + dice.Below(20))
                         : dice.Of(kDeaths);
  std::string at;
  switch (dice.Below(8)) {
    case 0:
      at = "open";
      break;
    case 1:
      at = "flush";
      break;
    case 2:
      at = "end";
      break;
    case 3:
      at = "close";
      break;
    default:
      at = "packet:" + std::to_string(dice.Below(length));
      break;
  }
  // flush and close return no result, so an error becomes an abort there.
  if ((at == "flush" || at == "close") && deed == "error:6") deed = "abort";
  return "at=" + at + " do=" + deed +
         (dice.OneIn(4) ? " lives=1-2" : " lives=1");
}

}  // namespace

std::string SoakPlan::Describe() const {
  constexpr const char* kVictims[] = {"", "worker", "zygote", "reaper",
                                      "bulkheadd"};
  const std::string what =
      victim == Victim::kNobody
          ? faults
          : std::string("signal ") + std::to_string(signal) + " to the " +
                kVictims[static_cast<size_t>(victim)] + " before frame " +
                std::to_string(before_frame);
  return what + (indexed ? ", by index" : ", in sequence");
}

SoakPlan DrawPlan(uint64_t seed, uint64_t number,
                  const std::vector<size_t>& lengths) {
  Dice dice(seed, number);
  SoakPlan plan;
  plan.file = dice.Below(lengths.size());
  const size_t length = lengths[plan.file];
  plan.indexed = dice.OneIn(3);
  if (plan.indexed) {
    for (int i = 0; i < 8; ++i) plan.indices.push_back(dice.Below(length));
  }
  plan.before_frame = dice.Below(plan.indexed ? plan.indices.size() : length);
  if (!dice.OneIn(3)) {
    plan.faults = DrawFaults(dice, length);
    return plan;
  }
  using Victim = SoakPlan::Victim;
  constexpr Victim kVictims[] = {
      Victim::kWorker, Victim::kWorker, Victim::kWorker,    Victim::kWorker,
      Victim::kZygote, Victim::kReaper, Victim::kSupervisor};
  plan.victim = dice.Of(kVictims);
  const bool stops =
      plan.victim == Victim::kWorker && dice.OneIn(kStallsAreOneIn);
  plan.signal = stops ? SIGSTOP : SIGKILL;
  return plan;
}

}  // namespace bulkhead::tests
