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

// While a call waits on the initial thread of the process, SIGINT also calls
// Cancel(), and then Python's own handler. Nothing changes if the process has
// no handler of Python's (SIG_DFL, SIG_IGN), or on another thread, since Python
// raises KeyboardInterrupt on the initial one alone. May be nested: a reader
// can use another decoder.
class InterruptWatch {
 public:
  explicit InterruptWatch(const Cancellation& cancellation);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  // Ends the watch, and returns whether SIGINT came during it.
  bool Stop();

 private:
  bool watching_ = false;
  const Cancellation* outer_ = nullptr;  // From the call around this one.
};

// The calls of one decoder, or the opening of one. Each call runs without the
// GIL and alone: another thread that calls the same decoder waits for its turn,
// since decoders of the library are not thread-safe.
class Waiting {
 public:
  // `reader` is the source's, or null.
  explicit Waiting(std::shared_ptr<Reader> reader)
      : cancellation_(ValueOf(Cancellation::Create())),
        reader_(std::move(reader)) {}

  const Cancellation& cancellation() const { return cancellation_; }

  // Ends the call that another thread is in, or else the next one.
  void Cancel() {
    asked_ = true;
    cancellation_.Cancel();
  }

  // True if a call is under way. In a forked child, that call never ends.
  bool busy() const { return user_.load() != std::thread::id(); }

  // Runs `call`, which returns a Result or a Status, and returns its value. The
  // caller has the GIL. Throws what the library returned, an exception of the
  // reader, or what a handler of a signal raised. A call that ^C ended begins
  // again if Python's handler raised nothing.
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
    bool interrupted;
    bool cancelled;  // By ^C, in this call or one before it.
  };

  // Holds the turn of the calling thread.
  class Turn {
   public:
    explicit Turn(Waiting& waiting);
    ~Turn();

   private:
    Waiting& waiting_;
  };

  template <typename Call>
  auto RunOnce(Call& call) -> Outcome<decltype(call())> {
    const WithoutGil released;
    const Turn turn(*this);
    InterruptWatch watch(cancellation_);
    auto result = call();
    const bool interrupted = watch.Stop();
    // A call may be done before it notices ^C, which then ends the next one, or
    // one later still if the handler runs on another thread.
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
  std::atomic<std::thread::id> user_;
  std::atomic<bool> asked_ = false;  // Cancel() has not ended any call yet.
};

}  // namespace bulkhead::python
