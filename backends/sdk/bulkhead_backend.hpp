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

// The ABI of bulkhead_backend.h for backends in C++17 and later.
//
// A table of C functions needs the same lines in each backend: casts from
// bulkhead_decoder*, a sentence for each thread and each decoder, copies of
// structs of other releases, a catch in each function. TableOf has them, and
// takes a class of the backend and one of its decoders:
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
// The clauses of bulkhead_backend.h stay as they are; those in brackets are
// kept here.
namespace bulkhead::sdk {

// Hides a function: two shared objects with a backend of one name, or with two
// releases of this header, must not end up with each other's.
#define BULKHEAD_SDK_LOCAL __attribute__((visibility("hidden")))

// Copies one versioned struct of the C ABI. The other side may have been built
// with an older or a newer header. Fields that the other side does not know are
// zero in the copy; fields that the caller does not know are left out.
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

// The end of a call: a result, and after a failure the sentence that
// last_error returns. A bulkhead_result alone is an Outcome without a sentence.
struct Outcome {
  Outcome(bulkhead_result of_call = BULKHEAD_OK, std::string about = {})
      : result(of_call), sentence(std::move(about)) {}

  bulkhead_result result;
  std::string sentence;
};

// Reports the devices of a backend, one in each call. Lives as long as the call
// of EnumerateDevices.
class Emit {
 public:
  using Function = void (*)(void*, const bulkhead_device*);
  Emit(Function emit, void* context) : emit_(emit), context_(context) {}

  // Fills in the `size` of the device, not of its capabilities.
  void operator()(bulkhead_device device) const {
    device.size = sizeof(device);
    emit_(context_, &device);
  }

 private:
  Function emit_;
  void* context_;
};

namespace internal {

// Runs `call`, which returns an Outcome. What it throws becomes a failure, so
// that no exception reaches the C caller [thread-4].
template <typename Call>
BULKHEAD_SDK_LOCAL Outcome Guard(const Call& call) noexcept {
  // Short enough for the string itself, since there may be no memory.
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
    return {BULKHEAD_FAILED, kNoMemory};  // for the sentence
  }
}

// The object to which the pointer to a bulkhead_decoder points.
template <typename Decoder>
struct BULKHEAD_SDK_LOCAL Stream {
  // The first member, so destroyed last: the decoder keeps a reference to it.
  bulkhead_runtime runtime{};
  std::unique_ptr<Decoder> decoder;
  std::string sentence;
  // The failure of a call that returns nothing. Each later call returns it.
  Outcome owed;
};

// A class with the names of two classes. A name that both have is ambiguous,
// which says that `Class` has it: overloaded, private or inherited, too. So a
// member that is there and does not fit is an error of the compiler, and not
// a member left out.
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

// The functions of the table.
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
  // decoder. One for each thread [thread-2].
  static std::string& SentenceOfThread() {
    thread_local std::string sentence;
    return sentence;
  }

  static bulkhead_result Keep(Outcome outcome, std::string* sentence) {
    *sentence = std::move(outcome.sentence);
    return outcome.result;
  }

  template <typename Call>
  static bulkhead_result Run(Stream* stream, const Call& call) {
    return Keep(Guard([&]() -> Outcome {
                  if (stream->owed.result != BULKHEAD_OK) return stream->owed;
                  return call();
                }),
                &stream->sentence);
  }

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

// Returns the table of a backend, which lives as long as the shared object
// [life-1]. Beside the members in the example above there may be
//
//     static constexpr uint32_t kStreamKinds = BULKHEAD_DECODES_AUDIO;
//
// in `Backend`, without which it decodes video, and in `Backend::Decoder`
//
//     void Release(const bulkhead_frame& frame);
//     const std::string& last_error();
//
// Without Release there is nothing to free. last_error is asked after a failure
// whose Outcome has no sentence. In place of an Outcome each function may
// return a bulkhead_result. These members must be public.
//
// Versions: each struct that the runtime passes comes as a full copy, in which
// unknown fields are zero, and the frame for Receive is empty [abi-1, abi-2].
// What the copy points to lives as the clauses say.
//
// Ownership: Open fills the pointer. The table owns the decoder from a
// successful Open until close, and destroys it at once after a failed one. The
// runtime passed to Open lives until the decoder is destroyed.
//
// Failures: std::bad_alloc becomes BULKHEAD_OUT_OF_MEMORY, and any other
// exception BULKHEAD_FAILED with what() in the sentence. After Flush or Release
// threw, each later Send and Receive fails. OK from Open without a decoder is
// BULKHEAD_FAILED. A destructor must not throw.
//
// Threads: as the clauses say. Decoders share nothing here.
template <typename Backend>
BULKHEAD_SDK_LOCAL const bulkhead_backend* TableOf() {
  static constexpr bulkhead_backend kTable =
      internal::Functions<Backend>::Table();
  return &kTable;
}

}  // namespace bulkhead::sdk

#undef BULKHEAD_SDK_LOCAL
