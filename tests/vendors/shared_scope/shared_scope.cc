// SPDX-License-Identifier: Apache-2.0
//
// A backend with an expensive device context. It declares worker_scope =
// "backend": one process makes the context once and decodes all sessions, each
// on its own thread.
//
// Options take the place of poisonous input. At the picture with timestamp T,
// crash_at=T crashes the process, hang_at=T never returns, lose_at=T loses the
// device, and hoard_at=T takes all threads that the process may have.
// context_is=N makes open fail unless this is the Nth session that
// was opened in this context.

#include <limits.h>
#include <poll.h>
#include <pthread.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.hpp"
#include "tests/vendors/c_vendor/c_vendor.h"

namespace {

using bulkhead::sdk::Emit;
using bulkhead::sdk::Outcome;

class Context {
 public:
  int CountSession() {
    const std::lock_guard lock(mutex_);
    return ++sessions_;
  }

 private:
  std::mutex mutex_;
  int sessions_ = 0;  // protected by mutex_
};

const bulkhead_backend& Licensed() { return *cvendor_backend(); }

// Returns the context. The first session makes it; the zygote never does.
Context& TheContext() {
  static Context context;
  return context;
}

void TakeAllThreads() {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  const auto wait = [](void*) -> void* {
    for (;;) ::poll(nullptr, 0, -1);
  };
  pthread_t thread;
  while (pthread_create(&thread, &small, wait, nullptr) == 0) {
  }
}

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    if (decoder_ != nullptr) Licensed().close(decoder_);
  }

  Outcome Open(bulkhead_open_parameters parameters,
               const bulkhead_runtime& runtime) {
    const std::string sessions = std::to_string(TheContext().CountSession());
    std::vector<bulkhead_option> options;
    for (size_t i = 0; i < parameters.option_count; ++i) {
      const bulkhead_option& option = parameters.options[i];
      if (std::strcmp(option.key, "crash_at") == 0) {
        crash_at_ = std::atoll(option.value);
      } else if (std::strcmp(option.key, "hang_at") == 0) {
        hang_at_ = std::atoll(option.value);
      } else if (std::strcmp(option.key, "lose_at") == 0) {
        lose_at_ = std::atoll(option.value);
      } else if (std::strcmp(option.key, "hoard_at") == 0) {
        hoard_at_ = std::atoll(option.value);
      } else if (std::strcmp(option.key, "context_is") == 0) {
        if (sessions != option.value) {
          return {BULKHEAD_UNSUPPORTED,
                  "the context has had " + sessions + " sessions"};
        }
      } else {
        options.push_back(option);
      }
    }
    parameters.options = options.data();
    parameters.option_count = options.size();
    const bulkhead_result result =
        Licensed().open(&parameters, &runtime, &decoder_);
    if (result == BULKHEAD_OK) return result;
    return {result, Licensed().last_error(nullptr)};
  }

  bulkhead_result Send(const bulkhead_packet* packet) {
    return Licensed().send_packet(decoder_, packet);
  }

  bulkhead_result Receive(bulkhead_frame* frame) {
    const bulkhead_result result = Licensed().receive_frame(decoder_, frame);
    if (result != BULKHEAD_OK || frame->pts == BULKHEAD_NO_TIMESTAMP) {
      return result;
    }
    if (frame->pts == crash_at_) {
      static int* volatile nowhere = nullptr;
      *nowhere = 1;
    }
    while (frame->pts == hang_at_) ::poll(nullptr, 0, -1);
    if (frame->pts == hoard_at_) TakeAllThreads();
    if (frame->pts != lose_at_) return BULKHEAD_OK;
    Licensed().release_frame(decoder_, frame);
    return BULKHEAD_DEVICE_LOST;
  }

  void Release(bulkhead_frame frame) {
    Licensed().release_frame(decoder_, &frame);
  }

  void Flush() { Licensed().flush(decoder_); }
  const char* last_error() { return Licensed().last_error(decoder_); }

 private:
  bulkhead_decoder* decoder_ = nullptr;
  int64_t crash_at_ = BULKHEAD_NO_TIMESTAMP;
  int64_t hang_at_ = BULKHEAD_NO_TIMESTAMP;
  int64_t lose_at_ = BULKHEAD_NO_TIMESTAMP;
  int64_t hoard_at_ = BULKHEAD_NO_TIMESTAMP;
};

struct SharedScope {
  using Decoder = Session;
  static constexpr const char* kName = "shared_scope";
  static constexpr const char* kVersion = "1.0";

  static Outcome EnumerateDevices(const bulkhead_runtime&, const Emit& emit) {
    emit({.name = "shared_scope", .description = "one context for all"});
    return BULKHEAD_OK;
  }

  static Outcome Open(const bulkhead_open_parameters& parameters,
                      const bulkhead_runtime& runtime,
                      std::unique_ptr<Session>* session) {
    *session = std::make_unique<Session>();
    return (*session)->Open(parameters, runtime);
  }
};

}  // namespace

extern "C" const bulkhead_backend* shared_scope_backend() {
  return bulkhead::sdk::TableOf<SharedScope>();
}
