// SPDX-License-Identifier: Apache-2.0
#include "core/sandbox/bpf.h"

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <map>

namespace bulkhead::sandbox {
namespace {

using Code = std::vector<sock_filter>;

constexpr uint32_t kX32Bit = 0x40000000;
// In place of a distance that is known once the whole rule is.
constexpr uint8_t kToNextRule = 0xff;

sock_filter Statement(uint16_t code, uint32_t k) { return {code, 0, 0, k}; }

sock_filter Load(size_t offset) {
  return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

sock_filter Return(uint32_t action) {
  return Statement(BPF_RET | BPF_K, action);
}

sock_filter Jump(uint16_t test, uint32_t k, uint8_t if_true, uint8_t if_false) {
  return {static_cast<uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, k};
}

void Append(Code& code, const Code& more) {
  code.insert(code.end(), more.begin(), more.end());
}

void AppendHalf(Code& code, size_t offset, uint32_t mask, uint32_t value) {
  if (mask == 0) return;
  code.push_back(Load(offset));
  if (mask != 0xffffffff) {
    code.push_back(Statement(BPF_ALU | BPF_AND | BPF_K, mask));
  }
  code.push_back(Jump(BPF_JEQ, value, 0, kToNextRule));
}

Code CompileRule(const Rule& rule) {
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
  code.push_back(Return(
      rule.error == 0 ? SECCOMP_RET_ALLOW
                      : SECCOMP_RET_ERRNO | static_cast<uint32_t>(rule.error)));
  for (size_t i = 0; i < code.size(); ++i) {
    if (BPF_CLASS(code[i].code) == BPF_JMP && code[i].jf == kToNextRule) {
      code[i].jf = static_cast<uint8_t>(code.size() - i - 1);
    }
  }
  return code;
}

Code CompileCall(int syscall, const std::vector<const Rule*>& rules) {
  Code code = {Jump(BPF_JEQ, static_cast<uint32_t>(syscall), 1, 0),
               Return(SECCOMP_RET_KILL_PROCESS)};
  for (const Rule* rule : rules) {
    Append(code, CompileRule(*rule));
    if (rule->when.empty()) return code;
  }
  code.push_back(Return(SECCOMP_RET_KILL_PROCESS));
  return code;
}

struct Call {
  int syscall;
  Code code;
};

Code Bisect(std::span<const Call> calls) {
  if (calls.empty()) return {Return(SECCOMP_RET_KILL_PROCESS)};
  if (calls.size() == 1) return calls.front().code;
  const size_t half = calls.size() / 2;
  const Code below = Bisect(calls.first(half));
  // A conditional jump reaches 255 instructions, an unconditional one all.
  Code code = {
      Jump(BPF_JGE, static_cast<uint32_t>(calls[half].syscall), 0, 1),
      Statement(BPF_JMP | BPF_JA, static_cast<uint32_t>(below.size()))};
  Append(code, below);
  Append(code, Bisect(calls.subspan(half)));
  return code;
}

}  // namespace

std::vector<sock_filter> CompileFilter(const Table& table) {
  std::map<int, std::vector<const Rule*>> by_syscall;
  for (const Rule& rule : table) by_syscall[rule.syscall].push_back(&rule);
  std::vector<Call> calls;
  for (const auto& [syscall, rules] : by_syscall) {
    calls.push_back({syscall, CompileCall(syscall, rules)});
  }

  Code code = {
      Load(offsetof(seccomp_data, arch)),
      Jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
      Return(SECCOMP_RET_KILL_PROCESS),
      Load(offsetof(seccomp_data, nr)),
      Jump(BPF_JGE, kX32Bit, 0, 1),
      Return(SECCOMP_RET_KILL_PROCESS),
  };
  Append(code, Bisect(calls));
  return code;
}

std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter) {
  return std::as_bytes(std::span(filter));
}

}  // namespace bulkhead::sandbox
