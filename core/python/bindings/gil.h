// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

namespace bulkhead::python {

// The interpreter's lock, released and taken so that a thread may be inside a
// call when the interpreter ends. Python then ends each daemon thread that asks
// for the lock, by pthread_exit(), and that unwinds the stack: through
// destructors and handlers of C++, which end the process with abort(). A thread
// that Python wants to end here sleeps instead until the process is gone.

// Releases the lock until the end of the scope.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const thread_;
};

// Holds the lock until the end of the scope.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Sleeps until the process is gone.
[[noreturn]] void SleepForEver();

// Runs `call`, which runs Python, and returns its result.
template <typename Call>
auto SleepingIfPythonEnds(Call call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    // Leaving the handler without `throw` would end the process.
    SleepForEver();
  }
}

}  // namespace bulkhead::python
