// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "bulkhead_backend.h"

// Makes the function table of bulkhead_backend.h for a backend in C++17 or
// later.
//
// A table of C functions needs the same lines in each backend: casts from
// bulkhead_decoder*, an error sentence for each thread and each decoder, copies
// of structs of other releases, a catch in each function. TableOf contains
// those lines. The backend supplies a class for itself and a class for its
// decoders:
//
//     class AcmeDecoder {  // decodes one stream
//      public:
//       Outcome Send(const bulkhead_packet* packet);  // nullptr: the end
//       Outcome Receive(bulkhead_frame* frame);
//       void Flush();
//     };
//     struct Acme {
//       using Decoder = AcmeDecoder;
//       static constexpr const char* kName = "acme";
//       static constexpr const char* kVersion = "1.2";
//       static Outcome EnumerateDevices(const bulkhead_runtime&,
//                                       const Emit& emit);
//       static Outcome Open(const bulkhead_open_parameters& parameters,
//                           const bulkhead_runtime& runtime,
//                           std::unique_ptr<Decoder>* decoder);
//     };
//     extern "C" const bulkhead_backend* acme_backend(void) {
//       return TableOf<Acme>();
//     }
//
// All clauses of bulkhead_backend.h apply to such a backend. The code here
// keeps the clauses that its comments name in brackets.
namespace bulkhead::sdk {

// Hides a function from other shared objects. Otherwise two objects whose
// backends have the same name, or that were built with different releases of
// this header, could call each other's functions.
#define BULKHEAD_SDK_LOCAL __attribute__((visibility("hidden")))

// Copies a versioned struct of the C ABI from the other side, which may have
// been built with an older or a newer header. Fields that the other side does
// not know are zero in the copy. Fields that this side does not know are left
// out.
template <typename Struct>
BULKHEAD_SDK_LOCAL Struct TakeSized(const Struct& source) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  static_assert(offsetof(Struct, size) == 0);
  uint32_t filled;
  std::memcpy(&filled, &source, sizeof(filled));
  Struct copy{};
  std::memcpy(&copy, &source, std::min<size_t>(filled, sizeof(Struct)));
  return copy;
}

// The outcome of a call: a result, and after a failure the sentence that
// last_error returns. A bulkhead_result converts to an Outcome without a
// sentence.
struct Outcome {
  Outcome(bulkhead_result of_call = BULKHEAD_OK, std::string about = {})
      : result(of_call), sentence(std::move(about)) {}

  bulkhead_result result;
  std::string sentence;
};

// Reports the devices of a backend, one device in each call. Valid during the
// call of EnumerateDevices only.
class Emit {
 public:
  using Function = void (*)(void*, const bulkhead_device*);
  Emit(Function emit, void* context) : emit_(emit), context_(context) {}

  // Sets the `size` of `device`. The caller sets the `size` of each capability.
  void operator()(bulkhead_device device) const {
    device.size = sizeof(device);
    emit_(context_, &device);
  }

 private:
  Function emit_;
  void* context_;
};

namespace internal {

// Runs `call` and returns its Outcome. An exception of `call` becomes a failed
// Outcome, so that no exception reaches the C caller [thread-4].
template <typename Call>
BULKHEAD_SDK_LOCAL Outcome Guard(const Call& call) noexcept {
  // Short enough for the buffer inside std::string, so no allocation is needed.
  constexpr const char* kNoMemory = "no memory left";
  try {
    try {
      return call();
    } catch (const std::bad_alloc&) {
      return {BULKHEAD_OUT_OF_MEMORY, kNoMemory};
    } catch (const std::exception& exception) {
      return {BULKHEAD_FAILED,
              std::string("the backend threw: ") + exception.what()};
    } catch (...) {
      return {BULKHEAD_FAILED, "the backend threw what is no std::exception"};
    }
  } catch (...) {
    return {BULKHEAD_FAILED, kNoMemory};  // no memory for the sentence above
  }
}

// The object behind a pointer to bulkhead_decoder: a decoder, its runtime and
// the sentence about its last failure.
template <typename Decoder>
struct BULKHEAD_SDK_LOCAL Stream {
  // The first member, so destroyed last: the decoder refers to the runtime.
  bulkhead_runtime runtime{};
  std::unique_ptr<Decoder> decoder;
  std::string sentence;
  // The failure of a Release or Flush, which cannot return it. Each later call
  // that has a result returns this failure instead.
  Outcome owed;
};

// Detects whether `Class` has a member of a certain name. `Name` has a single
// member, with that name. If `Class` has one, too, the name is ambiguous in
// `Both`, and the constants below are true. Overloaded, private and inherited
// members are found, too. So an optional member with a wrong signature is a
// compile error instead of being ignored.
template <typename Class, typename Name>
struct Both : Class, Name {
  static_assert(!std::is_final_v<Class>, "the class must not be final");
};

struct NamedStreamKinds {
  int kStreamKinds;
};
template <typename Backend, typename = void>
constexpr bool kHasStreamKinds = true;
template <typename Backend>
constexpr bool kHasStreamKinds<
    Backend,
    std::void_t<decltype(&Both<Backend, NamedStreamKinds>::kStreamKinds)>> =
    false;

struct NamedRelease {
  int Release;
};
template <typename Decoder, typename = void>
constexpr bool kReleases = true;
template <typename Decoder>
constexpr bool kReleases<
    Decoder, std::void_t<decltype(&Both<Decoder, NamedRelease>::Release)>> =
    false;

struct NamedLastError {
  int last_error;
};
template <typename Decoder, typename = void>
constexpr bool kHasLastError = true;
template <typename Decoder>
constexpr bool kHasLastError<
    Decoder,
    std::void_t<decltype(&Both<Decoder, NamedLastError>::last_error)>> = false;

// Implements the functions of the table of `Backend`.
template <typename Backend>
class BULKHEAD_SDK_LOCAL Functions {
 public:
  static constexpr bulkhead_backend Table() {
    bulkhead_backend table{};
    table.size = sizeof(table);
    table.abi_version = BULKHEAD_ABI_VERSION;
    table.name = Backend::kName;
    table.version = Backend::kVersion;
    table.enumerate_devices = EnumerateDevices;
    table.open = Open;
    table.send_packet = SendPacket;
    table.receive_frame = ReceiveFrame;
    table.release_frame = ReleaseFrame;
    table.flush = Flush;
    table.close = Close;
    table.last_error = LastError;
    table.stream_kinds = BULKHEAD_DECODES_VIDEO;
    if constexpr (kHasStreamKinds<Backend>) {
      table.stream_kinds = Backend::kStreamKinds;
    }
    return table;
  }

 private:
  using Decoder = typename Backend::Decoder;
  using Stream = internal::Stream<Decoder>;

  static Stream& Self(bulkhead_decoder* decoder) {
    return *reinterpret_cast<Stream*>(decoder);
  }

  // The sentence of a failed open or enumerate_devices, which belongs to no
  // decoder. Each thread has one [thread-2].
  static std::string& SentenceOfThread() {
    thread_local std::string sentence;
    return sentence;
  }

  // Stores the outcome's sentence, and returns its result.
  static bulkhead_result Keep(Outcome outcome, std::string* sentence) {
    *sentence = std::move(outcome.sentence);
    return outcome.result;
  }

  // Runs a call that has a result. If an earlier RunOwing failed, returns that
  // failure instead.
  template <typename Call>
  static bulkhead_result Run(Stream* stream, const Call& call) {
    return Keep(Guard([&]() -> Outcome {
                  if (stream->owed.result != BULKHEAD_OK) return stream->owed;
                  return call();
                }),
                &stream->sentence);
  }

  // Runs a call without a result, and stores its failure for later calls.
  template <typename Call>
  static void RunOwing(Stream* stream, const Call& call) {
    Outcome outcome = Guard([&]() -> Outcome {
      call();
      return {};
    });
    if (outcome.result != BULKHEAD_OK) stream->owed = std::move(outcome);
  }

  static bulkhead_result EnumerateDevices(const bulkhead_runtime* runtime,
                                          Emit::Function emit, void* context) {
    return Keep(Guard([&]() -> Outcome {
                  return Backend::EnumerateDevices(TakeSized(*runtime),
                                                   Emit(emit, context));
                }),
                &SentenceOfThread());
  }

  static bulkhead_result Open(const bulkhead_open_parameters* parameters,
                              const bulkhead_runtime* runtime,
                              bulkhead_decoder** decoder) {
    return Keep(
        Guard([&]() -> Outcome {
          bulkhead_open_parameters taken = TakeSized(*parameters);
          const bulkhead_codec_parameters codec = TakeSized(*taken.codec);
          taken.codec = &codec;
          auto stream = std::make_unique<Stream>();
          stream->runtime = TakeSized(*runtime);
          Outcome outcome =
              Backend::Open(taken, stream->runtime, &stream->decoder);
          if (outcome.result != BULKHEAD_OK) return outcome;
          if (stream->decoder == nullptr) {
            return {BULKHEAD_FAILED, "Open made no decoder"};
          }
          *decoder = reinterpret_cast<bulkhead_decoder*>(stream.release());
          return outcome;
        }),
        &SentenceOfThread());
  }

  static bulkhead_result SendPacket(bulkhead_decoder* decoder,
                                    const bulkhead_packet* packet) {
    Stream& self = Self(decoder);
    return Run(&self, [&]() -> Outcome {
      if (packet == nullptr) return self.decoder->Send(nullptr);
      const bulkhead_packet taken = TakeSized(*packet);
      return self.decoder->Send(&taken);
    });
  }

  static bulkhead_result ReceiveFrame(bulkhead_decoder* decoder,
                                      bulkhead_frame* frame) {
    Stream& self = Self(decoder);
    return Run(&self, [&]() -> Outcome {
      bulkhead_frame filled{};
      filled.size = sizeof(filled);
      Outcome outcome = self.decoder->Receive(&filled);
      if (outcome.result != BULKHEAD_OK) return outcome;
      filled.size = std::min<uint32_t>(frame->size, sizeof(filled));
      std::memcpy(frame, &filled, filled.size);
      return outcome;
    });
  }

  static void ReleaseFrame(bulkhead_decoder* decoder, bulkhead_frame* frame) {
    if constexpr (kReleases<Decoder>) {
      Stream& self = Self(decoder);
      RunOwing(&self, [&] { self.decoder->Release(TakeSized(*frame)); });
    }
  }

  static void Flush(bulkhead_decoder* decoder) {
    Stream& self = Self(decoder);
    RunOwing(&self, [&] { self.decoder->Flush(); });
  }

  static void Close(bulkhead_decoder* decoder) { delete &Self(decoder); }

  static const char* LastError(bulkhead_decoder* decoder) {
    if (decoder == nullptr) return SentenceOfThread().c_str();
    Stream& self = Self(decoder);
    if constexpr (kHasLastError<Decoder>) {
      if (self.sentence.empty()) {
        Guard([&]() -> Outcome {
          self.sentence = self.decoder->last_error();
          return {};
        });
      }
    }
    return self.sentence.c_str();
  }
};

}  // namespace internal

// Returns the table of a backend. The table lives as long as the shared object
// [life-1]. Some members are optional. `Backend` may have
//
//     static constexpr uint32_t kStreamKinds = BULKHEAD_DECODES_AUDIO;
//
// and without it decodes video only. `Backend::Decoder` may have
//
//     void Release(const bulkhead_frame& frame);
//     const std::string& last_error();
//
// A decoder without Release has nothing to free for a frame. last_error is
// called after a failure whose Outcome has no sentence. Each function may
// return a bulkhead_result in place of an Outcome. All members must be public.
//
// Versions: each function gets full copies of the runtime's structs, in which
// unknown fields are zero. The frame for Receive is empty [abi-1, abi-2]. The
// memory that a copy points to lives as long as the clauses say.
//
// Ownership: Open sets `*decoder`. The table owns the decoder from a successful
// Open until close. A decoder that a failed Open has set is destroyed at once.
// The runtime passed to Open outlives the decoder.
//
// Failures: std::bad_alloc becomes BULKHEAD_OUT_OF_MEMORY, and any other
// exception BULKHEAD_FAILED with what() in the sentence. After Flush or Release
// has thrown, each later Send and Receive fails. If Open returns OK and sets no
// decoder, the result is BULKHEAD_FAILED. A destructor must not throw.
//
// Threads: as the clauses say. This code has no state that decoders share.
template <typename Backend>
BULKHEAD_SDK_LOCAL const bulkhead_backend* TableOf() {
  static constexpr bulkhead_backend kTable =
      internal::Functions<Backend>::Table();
  return &kTable;
}

}  // namespace bulkhead::sdk

#undef BULKHEAD_SDK_LOCAL
