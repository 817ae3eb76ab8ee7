// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/testing/bpf_evaluator.h"

#include <cstring>
#include <stdexcept>

namespace bulkhead::sandbox {

uint32_t EvaluateFilter(std::span<const sock_filter> program,
                        const seccomp_data& call) {
  uint32_t accumulator = 0;
  uint32_t memory[BPF_MEMWORDS] = {};
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k % 4 != 0 || step.k + 4 > sizeof(call)) {
          throw std::runtime_error("load out of bounds");
        }
        std::memcpy(&accumulator, reinterpret_cast<const char*>(&call) + step.k,
                    4);
        break;
      case BPF_LD | BPF_IMM:
        accumulator = step.k;
        break;
      case BPF_LD | BPF_MEM:
        accumulator = memory[step.k];
        break;
      case BPF_ST:
        memory[step.k] = accumulator;
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        accumulator &= step.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += accumulator == step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += accumulator >= step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += accumulator > step.k ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (accumulator & step.k) != 0 ? step.jt : step.jf;
        break;
      case BPF_JMP | BPF_JA:
        at += step.k;
        break;
      case BPF_RET | BPF_K:
        return step.k;
      case BPF_RET | BPF_A:
        return accumulator;
      default:
        throw std::runtime_error("instruction that no filter of ours uses");
    }
  }
  throw std::runtime_error("ran off the end");
}

}  // namespace bulkhead::sandbox
