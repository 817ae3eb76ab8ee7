// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Aborts the process if `condition` is false. libFuzzer reports the abort as a
// finding.
#define FUZZ_CHECK(condition)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)

// The function under test. libFuzzer calls it with generated inputs, and
// replay_test.cc with each file of the corpus.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
