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

#include "backends/sdk/bulkhead_backend.h"
#include "tests/vendors/c_vendor/c_vendor.h"

namespace {

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

struct Session {
  bulkhead_decoder* decoder = nullptr;
  int64_t crash_at = BULKHEAD_NO_TIMESTAMP;
  int64_t hang_at = BULKHEAD_NO_TIMESTAMP;
  int64_t lose_at = BULKHEAD_NO_TIMESTAMP;
  int64_t hoard_at = BULKHEAD_NO_TIMESTAMP;
};

thread_local std::string open_error;

const bulkhead_backend& Licensed() { return *cvendor_backend(); }

// Returns the context. The first session makes it; the zygote never does.
Context& TheContext() {
  static Context context;
  return context;
}

Session* Self(bulkhead_decoder* decoder) {
  return reinterpret_cast<Session*>(decoder);
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

bulkhead_result EnumerateDevices(const bulkhead_runtime*,
                                 void (*emit)(void*, const bulkhead_device*),
                                 void* emit_context) {
  const bulkhead_device device = {.size = sizeof(device),
                                  .name = "shared_scope",
                                  .description = "one context for all"};
  emit(emit_context, &device);
  return BULKHEAD_OK;
}

bulkhead_result Open(const bulkhead_open_parameters* parameters,
                     const bulkhead_runtime* runtime,
                     bulkhead_decoder** decoder) {
  const std::string sessions = std::to_string(TheContext().CountSession());
  auto session = std::make_unique<Session>();
  std::vector<bulkhead_option> options;
  for (size_t i = 0; i < parameters->option_count; ++i) {
    const bulkhead_option& option = parameters->options[i];
    if (std::strcmp(option.key, "crash_at") == 0) {
      session->crash_at = std::atoll(option.value);
    } else if (std::strcmp(option.key, "hang_at") == 0) {
      session->hang_at = std::atoll(option.value);
    } else if (std::strcmp(option.key, "lose_at") == 0) {
      session->lose_at = std::atoll(option.value);
    } else if (std::strcmp(option.key, "hoard_at") == 0) {
      session->hoard_at = std::atoll(option.value);
    } else if (std::strcmp(option.key, "context_is") == 0) {
      if (sessions != option.value) {
        open_error = "the context has had " + sessions + " sessions";
        return BULKHEAD_UNSUPPORTED;
      }
    } else {
      options.push_back(option);
    }
  }
  bulkhead_open_parameters passed = *parameters;
  passed.options = options.data();
  passed.option_count = options.size();
  const bulkhead_result result =
      Licensed().open(&passed, runtime, &session->decoder);
  if (result != BULKHEAD_OK) {
    open_error = Licensed().last_error(nullptr);
    return result;
  }
  *decoder = reinterpret_cast<bulkhead_decoder*>(session.release());
  return BULKHEAD_OK;
}

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  return Licensed().send_packet(Self(decoder)->decoder, packet);
}

bulkhead_result ReceiveFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  const Session& session = *Self(decoder);
  const bulkhead_result result =
      Licensed().receive_frame(session.decoder, frame);
  if (result != BULKHEAD_OK || frame->pts == BULKHEAD_NO_TIMESTAMP) {
    return result;
  }
  if (frame->pts == session.crash_at) {
    static int* volatile nowhere = nullptr;
    *nowhere = 1;
  }
  while (frame->pts == session.hang_at) ::poll(nullptr, 0, -1);
  if (frame->pts == session.hoard_at) TakeAllThreads();
  if (frame->pts != session.lose_at) return BULKHEAD_OK;
  Licensed().release_frame(session.decoder, frame);
  return BULKHEAD_DEVICE_LOST;
}

void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
  Licensed().release_frame(Self(decoder)->decoder, frame);
}

void Flush(bulkhead_decoder* decoder) {
  Licensed().flush(Self(decoder)->decoder);
}

void Close(bulkhead_decoder* decoder) {
  Licensed().close(Self(decoder)->decoder);
  delete Self(decoder);
}

const char* LastError(bulkhead_decoder* decoder) {
  return decoder == nullptr ? open_error.c_str()
                            : Licensed().last_error(Self(decoder)->decoder);
}

constexpr bulkhead_backend kBackend = {
    .size = sizeof(bulkhead_backend),
    .abi_version = BULKHEAD_ABI_VERSION,
    .name = "shared_scope",
    .version = "1.0",
    .enumerate_devices = EnumerateDevices,
    .open = Open,
    .send_packet = SendPacket,
    .receive_frame = ReceiveFrame,
    .release_frame = ReleaseFrame,
    .flush = Flush,
    .close = Close,
    .last_error = LastError,
};

}  // namespace

extern "C" const bulkhead_backend* shared_scope_backend() { return &kBackend; }
