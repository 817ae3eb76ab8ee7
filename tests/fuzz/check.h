// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Ends the process, which is how a fuzzer is told of a finding.
#define FUZZ_CHECK(condition)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)

// What libFuzzer calls, and replay_test.cc with each file of the corpus.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
