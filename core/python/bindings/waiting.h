// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "bulkhead/cancellation.h"
#include "bulkhead/status.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/reader.h"

namespace bulkhead::python {

// Lets ^C end a call of the library. While an InterruptWatch exists, SIGINT
// calls Cancel() on its cancellation, and then Python's own handler.
//
// Works only on the process's initial thread, where Python raises
// KeyboardInterrupt, and only if SIGINT has a handler. In all other cases it
// does nothing. InterruptWatches may be nested, because a reader can use
// another decoder; SIGINT cancels the innermost.
class InterruptWatch {
 public:
  explicit InterruptWatch(const Cancellation& cancellation);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Ends the watch; the outermost one restores the old handler. Returns whether
  // SIGINT came meanwhile.
  bool Stop();

 private:
  bool watching_ = false;
  // The cancellation of the enclosing InterruptWatch, or null.
  const Cancellation* outer_ = nullptr;
};

// Runs the calls of one decoder, and the call that opens it. Each call runs
// without the GIL, and can be ended by ^C and Cancel(). Decoders of the library
// are not thread-safe: if two threads of Python call one, the second waits for
// its turn.
class Waiting {
 public:
  // `reader` is the reader that the decoder's source calls, or null.
  explicit Waiting(std::shared_ptr<Reader> reader)
      : cancellation_(ValueOf(Cancellation::Create())),
        reader_(std::move(reader)) {}

  const Cancellation& cancellation() const { return cancellation_; }

  // Ends the call that is running on another thread; if there is none, the next
  // call. Any thread may call it.
  void Cancel() {
    asked_ = true;
    cancellation_.Cancel();
  }

  // Returns whether a call is running. In a child that was forked during a call
  // of another thread, this stays true for ever.
  bool busy() const { return user_.load() != std::thread::id(); }

  // Runs `call`, which returns a Result or a Status, and returns its value. The
  // caller has the GIL. Throws the error of the library, an exception of the
  // reader, or an exception that a signal handler of Python raised. If ^C ended
  // the call and Python's handler raised nothing, runs the call again.
  template <typename Call>
  auto Run(Call call) {
    for (;;) {
      auto [result, interrupted, cancelled] = RunOnce(call);
      if (reader_) reader_->Rethrow();
      if (interrupted && PyErr_CheckSignals() != 0) {
        throw pybind11::error_already_set();
      }
      if (!cancelled) return ValueOf(std::move(result));
    }
  }

 private:
  template <typename R>
  struct Outcome {
    R result;
    bool interrupted;  // SIGINT came during this call.
    bool cancelled;    // By ^C, during this call or an earlier one.
  };

  // Gives the calling thread the decoder until the end of the scope.
  class Turn {
   public:
    explicit Turn(Waiting& waiting);
    ~Turn();

   private:
    Waiting& waiting_;
  };

  // Runs `call` once, without the GIL, when it is this thread's turn.
  template <typename Call>
  auto RunOnce(Call& call) -> Outcome<decltype(call())> {
    const WithoutGil released;
    const Turn turn(*this);
    InterruptWatch watch(cancellation_);
    auto result = call();
    const bool interrupted = watch.Stop();
    // A call may return before it notices ^C. The cancellation then ends the
    // next call or a later one, for which `interrupted` is false.
    const bool cancelled =
        CodeOf(result) == Code::kCancelled && !asked_.exchange(false);
    return {std::move(result), interrupted, cancelled};
  }

  template <typename T>
  static Code CodeOf(const Result<T>& result) {
    return result ? Code::kOk : result.error().code();
  }
  static Code CodeOf(const Status& status) { return status.code(); }

  const Cancellation cancellation_;
  const std::shared_ptr<Reader> reader_;
  std::mutex turn_;
  std::atomic<std::thread::id> user_;  // The thread in a call; else no id.
  std::atomic<bool> asked_ = false;  // Cancel() was called; no call ended yet.
};

}  // namespace bulkhead::python
