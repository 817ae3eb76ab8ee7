// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/bpf.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/supervisor/sandbox/testing/bpf_evaluator.h"

namespace bulkhead::sandbox {
namespace {

using Arguments = std::array<uint64_t, 6>;

seccomp_data Call(int number, const Arguments& arguments = {},
                  uint32_t arch = AUDIT_ARCH_X86_64) {
  seccomp_data call = {.nr = number, .arch = arch, .instruction_pointer = 0};
  std::copy(arguments.begin(), arguments.end(), call.args);
  return call;
}

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr uint32_t kTrap = SECCOMP_RET_TRAP;
constexpr uint32_t kNotify = SECCOMP_RET_USER_NOTIF;
constexpr uint32_t kTrace = SECCOMP_RET_TRACE;
uint32_t Errno(int error) { return SECCOMP_RET_ERRNO | error; }

// Evaluates a table directly, by its definition.
uint32_t Meaning(const Table& table, int number, const Arguments& arguments,
                 uint32_t forbidden = kKill) {
  for (const Rule& rule : table) {
    if (rule.syscall != number) continue;
    const bool matches = std::all_of(
        rule.when.begin(), rule.when.end(), [&](const Condition& condition) {
          return (arguments[condition.argument] & condition.mask) ==
                 condition.value;
        });
    if (!matches) continue;
    if (rule.asks && forbidden == kNotify) return kNotify;
    return rule.error == 0 ? kAllow : Errno(rule.error);
  }
  return forbidden;
}

// Returns the arguments that each condition of the table separates: the value
// itself, the value with bits outside of the mask, and with one bit of the mask
// wrong.
std::vector<Arguments> InterestingArguments(const Table& table, int number) {
  std::vector<Arguments> all = {{}, {~0u, ~0u, ~0u, ~0u, ~0u, ~0u}};
  all.push_back({1, 2, 3, 4, 5, 6});
  for (const Rule& rule : table) {
    if (rule.syscall != number) continue;
    Arguments matching = {};
    for (const Condition& c : rule.when) matching[c.argument] |= c.value;
    all.push_back(matching);
    for (const Condition& c : rule.when) {
      Arguments noisy = matching;
      noisy[c.argument] |= ~c.mask;
      all.push_back(noisy);
      for (uint64_t bit = 1; bit != 0; bit <<= 1) {
        Arguments flipped = matching;
        flipped[c.argument] ^= bit;
        all.push_back(flipped);
      }
    }
  }
  return all;
}

class EachTable : public testing::TestWithParam<Table (*)()> {};

TEST_P(EachTable, FilterMeansWhatTheTableSays) {
  const Table table = GetParam()();
  const auto filter = CompileFilter(table, Forbidden::kKill);
  const auto notifying = CompileFilter(table, Forbidden::kNotify);
  for (int number = 0; number < 1024; ++number) {
    for (const Arguments& arguments : InterestingArguments(table, number)) {
      ASSERT_EQ(EvaluateFilter(filter, Call(number, arguments)),
                Meaning(table, number, arguments))
          << "system call " << number;
      ASSERT_EQ(EvaluateFilter(notifying, Call(number, arguments)),
                Meaning(table, number, arguments, kNotify))
          << "system call " << number;
    }
  }
}

TEST_P(EachTable, FilterForbidsOtherArchitecturesAndX32) {
  const Table table = GetParam()();
  for (const auto& [forbidden, action] :
       {std::pair(Forbidden::kKill, kKill),
        std::pair(Forbidden::kNotify, kNotify)}) {
    const auto filter = CompileFilter(table, forbidden);
    for (const Rule& rule : table) {
      EXPECT_EQ(EvaluateFilter(filter, Call(rule.syscall, {}, AUDIT_ARCH_I386)),
                action);
      EXPECT_EQ(EvaluateFilter(filter, Call(rule.syscall | 0x40000000)),
                action);
    }
    EXPECT_EQ(EvaluateFilter(filter, Call(-1)), action);
    EXPECT_EQ(EvaluateFilter(filter, Call(0x7fffffff)), action);
  }
}

TEST_P(EachTable, FilterFitsTheKernel) {
  EXPECT_LE(CompileFilter(GetParam()(), Forbidden::kKill).size(),
            size_t{BPF_MAXINSNS});
}

TEST_P(EachTable, EveryRuleHasAReasonAndCanMatch) {
  const Table table = GetParam()();
  for (const Rule& rule : table) {
    EXPECT_FALSE(rule.reason.empty());
    for (const Condition& c : rule.when) {
      EXPECT_LT(c.argument, 6u);
      EXPECT_EQ(c.value & ~c.mask, 0u) << rule.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, EachTable,
                         testing::Values(&ReaperTable, &ZygoteTable,
                                         &SessionTable));

// Combines filters as the kernel does: the strictest action decides, and the
// values of actions, as signed numbers, are in order of strictness.
uint32_t Strictest(uint32_t one, uint32_t other) {
  const auto action = [](uint32_t value) {
    return static_cast<int32_t>(value & SECCOMP_RET_ACTION_FULL);
  };
  return action(one) <= action(other) ? one : other;
}

TEST(SessionFilterTest, ForbidsTheSameWhetherItIsToldOrNot) {
  const auto stage1 = CompileFilter(ZygoteTable(), Forbidden::kNotify);
  const auto stage2 = SessionFilter(Forbidden::kNotify);
  EXPECT_LE(stage2.size(), size_t{BPF_MAXINSNS});
  const Table session = SessionTable();
  int told = 0;
  int killed = 0;
  for (int number = 0; number < 1024; ++number) {
    std::vector<Arguments> all = InterestingArguments(session, number);
    const auto more = InterestingArguments(ZygoteTable(), number);
    all.insert(all.end(), more.begin(), more.end());
    for (const Arguments& arguments : all) {
      const seccomp_data call = Call(number, arguments);
      const uint32_t above = EvaluateFilter(stage2, call);
      const uint32_t both = Strictest(above, EvaluateFilter(stage1, call));
      const uint32_t meaning = Meaning(session, number, arguments);
      if (meaning != kKill) {
        ASSERT_EQ(both, meaning) << "system call " << number;
        continue;
      }
      // Stage 2 alone allows nothing, whatever stage 1 would do.
      ASSERT_TRUE(above == kTrap || above == kTrace)
          << "system call " << number;
      ASSERT_TRUE(both == kTrap || both == kNotify) << "system call " << number;
      ++(both == kTrap ? killed : told);
    }
  }
  EXPECT_GT(told, 20 * killed);
}

TEST(SessionFilterTest, LeavesOtherArchitecturesToStage1) {
  const auto stage2 = SessionFilter(Forbidden::kNotify);
  EXPECT_EQ(EvaluateFilter(stage2, Call(0, {}, AUDIT_ARCH_I386)), kTrace);
  EXPECT_EQ(EvaluateFilter(stage2, Call(0x40000000)), kTrace);
  EXPECT_EQ(EvaluateFilter(stage2, Call(-1)), kTrace);
}

TEST(CompileFilterTest, EmptyTableKillsEverything) {
  EXPECT_EQ(EvaluateFilter(CompileFilter({}, Forbidden::kKill), Call(0)),
            kKill);
}

TEST(CompileFilterTest, FirstMatchingRuleDecides) {
  const auto filter = CompileFilter({{7, {{0, ~uint64_t{0}, 1}}, 0, "one"},
                                     {7, {{0, 0xff, 2}}, EPERM, "two"},
                                     {7, {}, EACCES, "others"},
                                     {7, {}, 0, "never reached"}},
                                    Forbidden::kKill);
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {1})), kAllow);
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {uint64_t{1} << 32 | 1})),
            Errno(EACCES));
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {0xff02})), Errno(EPERM));
  EXPECT_EQ(EvaluateFilter(filter, Call(6, {1})), kKill);
}

}  // namespace
}  // namespace bulkhead::sandbox
