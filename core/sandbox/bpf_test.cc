// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/bpf.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/sandbox/testing/bpf_evaluator.h"

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
uint32_t Errno(int error) { return SECCOMP_RET_ERRNO | error; }

// The meaning of a table, straight from its definition.
uint32_t Meaning(const Table& table, int number, const Arguments& arguments) {
  for (const Rule& rule : table) {
    if (rule.syscall != number) continue;
    const bool matches = std::all_of(
        rule.when.begin(), rule.when.end(), [&](const Condition& condition) {
          return (arguments[condition.argument] & condition.mask) ==
                 condition.value;
        });
    if (matches) return rule.error == 0 ? kAllow : Errno(rule.error);
  }
  return kKill;
}

// Arguments that each condition of the table separates: its value alone, with
// bits outside of the mask, and with one bit of the mask wrong.
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
  const auto filter = CompileFilter(table);
  for (int number = 0; number < 1024; ++number) {
    for (const Arguments& arguments : InterestingArguments(table, number)) {
      ASSERT_EQ(EvaluateFilter(filter, Call(number, arguments)),
                Meaning(table, number, arguments))
          << "system call " << number;
    }
  }
}

TEST_P(EachTable, FilterKillsOtherArchitecturesAndX32) {
  const Table table = GetParam()();
  const auto filter = CompileFilter(table);
  for (const Rule& rule : table) {
    EXPECT_EQ(EvaluateFilter(filter, Call(rule.syscall, {}, AUDIT_ARCH_I386)),
              kKill);
    EXPECT_EQ(EvaluateFilter(filter, Call(rule.syscall | 0x40000000)), kKill);
  }
  EXPECT_EQ(EvaluateFilter(filter, Call(-1)), kKill);
  EXPECT_EQ(EvaluateFilter(filter, Call(0x7fffffff)), kKill);
}

TEST_P(EachTable, FilterFitsTheKernel) {
  EXPECT_LE(CompileFilter(GetParam()()).size(), size_t{BPF_MAXINSNS});
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

TEST(CompileFilterTest, EmptyTableKillsEverything) {
  EXPECT_EQ(EvaluateFilter(CompileFilter({}), Call(0)), kKill);
}

TEST(CompileFilterTest, FirstMatchingRuleDecides) {
  const auto filter = CompileFilter({{7, {{0, ~uint64_t{0}, 1}}, 0, "one"},
                                     {7, {{0, 0xff, 2}}, EPERM, "two"},
                                     {7, {}, EACCES, "others"},
                                     {7, {}, 0, "never reached"}});
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {1})), kAllow);
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {uint64_t{1} << 32 | 1})),
            Errno(EACCES));
  EXPECT_EQ(EvaluateFilter(filter, Call(7, {0xff02})), Errno(EPERM));
  EXPECT_EQ(EvaluateFilter(filter, Call(6, {1})), kKill);
}

}  // namespace
}  // namespace bulkhead::sandbox
