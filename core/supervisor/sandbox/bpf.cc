// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/bpf.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <map>

namespace bulkhead::sandbox {
namespace {

using Code = std::vector<sock_filter>;

constexpr uint32_t kX32Bit = 0x40000000;
// A placeholder for the jump to the next rule, whose distance is known once the
// whole rule is compiled.
constexpr uint8_t kToNextRule = 0xff;

sock_filter Statement(uint16_t code, uint32_t k) { return {code, 0, 0, k}; }

sock_filter Load(size_t offset) {
  return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

sock_filter Return(uint32_t action) {
  return Statement(BPF_RET | BPF_K, action);
}

sock_filter Jump(uint16_t test, uint32_t k, uint8_t if_true, uint8_t if_false) {
  // Distances count the instructions that are skipped.
  return {static_cast<uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, k};
}

void Append(Code& code, const Code& more) {
  code.insert(code.end(), more.begin(), more.end());
}

// Appends the comparison of one 32-bit half of an argument, since BPF has no
// 64-bit load.
void AppendHalf(Code& code, size_t offset, uint32_t mask, uint32_t value) {
  if (mask == 0) return;
  code.push_back(Load(offset));
  if (mask != 0xffffffff) {
    code.push_back(Statement(BPF_ALU | BPF_AND | BPF_K, mask));
  }
  code.push_back(Jump(BPF_JEQ, value, 0, kToNextRule));
}

// The action of an upper filter for a call that the filter below decides on.
// The kernel prefers a notification to SECCOMP_RET_TRACE, so the filter below
// wins if it notifies. If it does not, the call fails with ENOSYS, since nobody
// traces a backend.
constexpr uint32_t kLeftToFilterBelow = SECCOMP_RET_TRACE;

// Returns the action (SECCOMP_RET_*) for a call on which `rule` decides.
uint32_t ActionOf(const Rule& rule, Forbidden forbidden) {
  if (rule.asks && forbidden == Forbidden::kNotify) {
    return SECCOMP_RET_USER_NOTIF;
  }
  return rule.error == 0
             ? SECCOMP_RET_ALLOW
             : SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule.error);
}

// Returns code that ends with `action` if all conditions of the rule hold. If
// one fails, the code jumps to its own end, where the next rule follows.
Code CompileRule(const Rule& rule, uint32_t action) {
  Code code;
  for (const Condition& condition : rule.when) {
    const size_t low =
        offsetof(seccomp_data, args) + sizeof(uint64_t) * condition.argument;
    AppendHalf(code, low, static_cast<uint32_t>(condition.mask),
               static_cast<uint32_t>(condition.value));
    AppendHalf(code, low + sizeof(uint32_t),
               static_cast<uint32_t>(condition.mask >> 32),
               static_cast<uint32_t>(condition.value >> 32));
  }
  code.push_back(Return(action));
  for (size_t i = 0; i < code.size(); ++i) {
    // Fills in the distance from a comparison to the end of this rule.
    if (BPF_CLASS(code[i].code) == BPF_JMP && code[i].jf == kToNextRule) {
      code[i].jf = static_cast<uint8_t>(code.size() - i - 1);
    }
  }
  return code;
}

struct Decision {
  const Rule* rule;
  uint32_t action;
};

using Decisions = std::map<int, std::vector<Decision>>;

// Returns code that checks the number of the call, since Bisect() may come here
// with another number, and then tries the decisions in their order.
Code CompileCall(int syscall, const std::vector<Decision>& decisions,
                 uint32_t forbidden) {
  Code code = {Jump(BPF_JEQ, static_cast<uint32_t>(syscall), 1, 0),
               Return(forbidden)};
  for (const auto& [rule, action] : decisions) {
    Append(code, CompileRule(*rule, action));
    // No later rule of this call can match.
    if (rule->when.empty()) return code;
  }
  code.push_back(Return(forbidden));
  return code;
}

struct Call {
  int syscall;
  Code code;
};

// Returns code that finds the call by its number and goes on to its rules.
Code Bisect(std::span<const Call> calls, uint32_t forbidden) {
  if (calls.empty()) return {Return(forbidden)};
  if (calls.size() == 1) return calls.front().code;
  const size_t half = calls.size() / 2;
  const Code below = Bisect(calls.first(half), forbidden);
  // A lower number goes on with `below`, any other one jumps past it. This
  // takes two instructions, since a conditional jump reaches only 255
  // instructions.
  Code code = {
      Jump(BPF_JGE, static_cast<uint32_t>(calls[half].syscall), 0, 1),
      Statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(below.size()))};
  Append(code, below);
  Append(code, Bisect(calls.subspan(half), forbidden));
  return code;
}

Code Compile(const Decisions& decisions, uint32_t forbidden) {
  std::vector<Call> calls;
  for (const auto& [syscall, of_call] : decisions) {
    calls.push_back({syscall, CompileCall(syscall, of_call, forbidden)});
  }
  // The architecture decides what a number means, so it is checked first. x32
  // numbers come with the architecture x86-64 and are recognised by their bit.
  Code code = {
      Load(offsetof(seccomp_data, arch)),
      Jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
      Return(forbidden),
      Load(offsetof(seccomp_data, nr)),
      Jump(BPF_JGE, kX32Bit, 0, 1),
      Return(forbidden),
  };
  Append(code, Bisect(calls, forbidden));
  return code;
}

}  // namespace

std::vector<sock_filter> CompileFilter(const Table& table,
                                       Forbidden forbidden) {
  Decisions decisions;
  for (const Rule& rule : table) {
    decisions[rule.syscall].push_back({&rule, ActionOf(rule, forbidden)});
  }
  return Compile(decisions, forbidden == Forbidden::kNotify
                                ? SECCOMP_RET_USER_NOTIF
                                : SECCOMP_RET_KILL_PROCESS);
}

std::vector<sock_filter> CompileFilterAbove(const Table& table,
                                            const Table& below) {
  Decisions decisions;
  for (const Rule& rule : table) {
    decisions[rule.syscall].push_back(
        {&rule, ActionOf(rule, Forbidden::kKill)});
  }
  for (const Rule& rule : below) {
    // These rules come after all rules of `table`, so only calls that `table`
    // forbids reach them. The filter below allows or answers such a call and
    // sends no notification, so this filter has to end the process. It does so
    // by SIGSYS and not by SECCOMP_RET_KILL_PROCESS, for which the kernel would
    // log the call and its address for everybody who may read the log.
    decisions[rule.syscall].push_back({&rule, SECCOMP_RET_TRAP});
  }
  return Compile(decisions, kLeftToFilterBelow);
}

std::vector<sock_filter> SessionFilter(Forbidden forbidden,
                                       const GrantedCalls& granted) {
  if (forbidden == Forbidden::kNotify) {
    return CompileFilterAbove(SessionTableWith(granted),
                              ZygoteTableWith(granted));
  }
  // Without notifications a worker gets its socket from the zygote, so its
  // descriptors may have any number.
  GrantedCalls anywhere = granted;
  anywhere.fixed_descriptors = false;
  return CompileFilter(SessionTableWith(anywhere), Forbidden::kKill);
}

std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter) {
  return std::as_bytes(std::span(filter));
}

}  // namespace bulkhead::sandbox
