// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>

namespace bulkhead::python {

// The classes below take and release the interpreter's lock (GIL). They handle
// an interpreter that ends while a thread is in a call of the library. Python
// then calls pthread_exit() in each daemon thread that asks for the lock. That
// unwinds the stack and, at a destructor or handler of C++, aborts the process.
// With these classes, such a thread sleeps instead until the process has ended.

// Releases the lock until the end of the scope. The thread must hold the lock.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* const thread_;
};

// Takes the lock until the end of the scope. The thread may hold it already.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

// Sleeps until the process ends.
[[noreturn]] void SleepForEver();

// Runs `call`, which runs code of Python, and returns its result. Sleeps if the
// interpreter ends meanwhile.
template <typename Call>
auto SleepingIfPythonEnds(Call call) {
  try {
    return call();
  } catch (const abi::__forced_unwind&) {
    // pthread_exit() threw this. Leaving the handler without `throw` would
    // abort the process.
    SleepForEver();
  }
}

}  // namespace bulkhead::python
