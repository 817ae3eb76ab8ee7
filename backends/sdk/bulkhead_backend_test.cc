// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/bulkhead_backend.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bulkhead::sdk {
namespace {

TEST(TakeSizedTest, FieldsBeyondTheSizeReadAsZero) {
  bulkhead_open_parameters older{};
  older.size = offsetof(bulkhead_open_parameters, max_frame_pixels);
  older.device = 1;
  older.max_frame_pixels = 7;
  const bulkhead_open_parameters taken = TakeSized(older);
  EXPECT_EQ(taken.device, 1u);
  EXPECT_EQ(taken.max_frame_pixels, 0u);
}

TEST(TakeSizedTest, AnUnknownTailIsLeftOut) {
  struct {
    bulkhead_device known;
    uint64_t tail;
  } newer{};
  newer.known.size = sizeof(newer);
  newer.known.name = "acme";
  EXPECT_STREQ(TakeSized(newer.known).name, "acme");
}

// What the decoders of a test have seen and do.
struct Script {
  void (*at_open)() = [] {};
  void (*at_send)() = [] {};
  void (*at_receive)() = [] {};
  void (*at_release)() = [] {};
  void (*at_flush)() = [] {};
  bulkhead_packet sent{};
  int released = 0;
  int decoders = 0;
};
Script script;

// A decoder that has everything, and throws what its script says.
class FullDecoder {
 public:
  explicit FullDecoder(const bulkhead_runtime& runtime) : runtime_(runtime) {
    ++script.decoders;
  }
  FullDecoder(const FullDecoder&) = delete;
  FullDecoder& operator=(const FullDecoder&) = delete;
  ~FullDecoder() {
    // The runtime's struct must live as long.
    if (runtime_.log != nullptr) runtime_.log(runtime_.context, "destroyed");
    --script.decoders;
  }

  Outcome Send(const bulkhead_packet* packet) {
    script.at_send();
    if (packet == nullptr) return {BULKHEAD_BAD_INPUT, "the end is damaged"};
    script.sent = *packet;
    return BULKHEAD_OK;
  }
  bulkhead_result Receive(bulkhead_frame* frame) {
    script.at_receive();
    frame->width = 64;
    frame->met_error = 1;
    last_error_ = "no picture";
    return frame->size == sizeof(*frame) && sends_picture ? BULKHEAD_OK
                                                          : BULKHEAD_FAILED;
  }
  void Release(const bulkhead_frame& frame) {
    script.at_release();
    script.released += frame.width;
  }
  void Flush() { script.at_flush(); }
  const std::string& last_error() const { return last_error_; }

  static inline bool sends_picture = true;

 private:
  const bulkhead_runtime& runtime_;
  std::string last_error_;
};

struct Full {
  using Decoder = FullDecoder;
  static constexpr const char* kName = "full";
  static constexpr const char* kVersion = "1.2";
  static constexpr uint32_t kStreamKinds = BULKHEAD_DECODES_AUDIO;
  static Outcome EnumerateDevices(const bulkhead_runtime&, const Emit& emit) {
    bulkhead_device device{};
    device.name = "full";
    emit(device);
    throw std::runtime_error("the bus is gone");
  }
  static Outcome Open(const bulkhead_open_parameters& parameters,
                      const bulkhead_runtime& runtime,
                      std::unique_ptr<Decoder>* decoder) {
    script.at_open();
    if (parameters.device == 2) return BULKHEAD_OK;
    decoder->reset(new FullDecoder(runtime));
    if (parameters.device != 0 || parameters.max_frame_pixels != 0 ||
        parameters.codec->seek_preroll != 0) {
      return {BULKHEAD_UNSUPPORTED, "there is one device"};
    }
    return BULKHEAD_OK;
  }
};

// A backend without anything that may be left out.
struct Bare {
  struct Decoder {
    static bulkhead_result Send(const bulkhead_packet*) { return BULKHEAD_OK; }
    static bulkhead_result Receive(bulkhead_frame*) { return BULKHEAD_FAILED; }
    void Flush() {}
  };
  static constexpr const char* kName = "bare";
  static constexpr const char* kVersion = "1";
  static bulkhead_result EnumerateDevices(const bulkhead_runtime&,
                                          const Emit&) {
    return BULKHEAD_OK;
  }
  static bulkhead_result Open(const bulkhead_open_parameters&,
                              const bulkhead_runtime&,
                              std::unique_ptr<Decoder>* decoder) {
    *decoder = std::make_unique<Decoder>();
    return BULKHEAD_OK;
  }
};

class TableOfTest : public testing::Test {
 protected:
  void SetUp() override {
    script = {};
    FullDecoder::sends_picture = true;
    codec_.size = sizeof(codec_);
    parameters_.size = sizeof(parameters_);
    parameters_.codec = &codec_;
    runtime_.size = sizeof(runtime_);
    frame_.size = sizeof(frame_);
  }
  void TearDown() override {
    if (decoder_ != nullptr) table_->close(decoder_);
    EXPECT_EQ(script.decoders, 0);
  }

  bulkhead_result Open() {
    return table_->open(&parameters_, &runtime_, &decoder_);
  }
  std::string Error() { return table_->last_error(decoder_); }

  const bulkhead_backend* table_ = TableOf<Full>();
  bulkhead_codec_parameters codec_{};
  bulkhead_open_parameters parameters_{};
  bulkhead_runtime runtime_{};
  bulkhead_packet packet_{};
  bulkhead_frame frame_{};
  bulkhead_decoder* decoder_ = nullptr;
};

TEST_F(TableOfTest, NamesTheBackend) {
  EXPECT_EQ(table_, TableOf<Full>());
  EXPECT_EQ(table_->size, sizeof(*table_));
  EXPECT_EQ(table_->abi_version, BULKHEAD_ABI_VERSION);
  EXPECT_STREQ(table_->name, "full");
  EXPECT_STREQ(table_->version, "1.2");
  EXPECT_EQ(table_->stream_kinds, uint32_t{BULKHEAD_DECODES_AUDIO});
}

TEST_F(TableOfTest, WhatThrowsInEnumerateDevicesOrOpenBelongsToNoDecoder) {
  std::vector<std::string> names;
  const auto emit = [](void* context, const bulkhead_device* device) {
    EXPECT_EQ(device->size, sizeof(*device));
    static_cast<std::vector<std::string>*>(context)->push_back(device->name);
  };
  EXPECT_EQ(table_->enumerate_devices(&runtime_, emit, &names),
            BULKHEAD_FAILED);
  EXPECT_EQ(names, std::vector<std::string>{"full"});
  EXPECT_EQ(Error(), "the backend threw: the bus is gone");

  script.at_open = [] { throw 7; };
  EXPECT_EQ(Open(), BULKHEAD_FAILED);
  EXPECT_EQ(decoder_, nullptr);
  EXPECT_EQ(Error(), "the backend threw what is no std::exception");
  std::thread([this] { EXPECT_EQ(Error(), ""); }).join();
}

TEST_F(TableOfTest, AFailedOpenLeavesNothing) {
  parameters_.device = 1;
  EXPECT_EQ(Open(), BULKHEAD_UNSUPPORTED);
  EXPECT_EQ(Error(), "there is one device");
  EXPECT_EQ(decoder_, nullptr);
  EXPECT_EQ(script.decoders, 0);
  parameters_.device = 2;
  EXPECT_EQ(Open(), BULKHEAD_FAILED);
  EXPECT_EQ(Error(), "Open made no decoder");
}

TEST_F(TableOfTest, ExceptionsBecomeResults) {
  ASSERT_EQ(Open(), BULKHEAD_OK);
  packet_.size = sizeof(packet_);
  script.at_send = [] { throw std::bad_alloc(); };
  EXPECT_EQ(table_->send_packet(decoder_, &packet_), BULKHEAD_OUT_OF_MEMORY);
  EXPECT_EQ(Error(), "no memory left");
  script.at_receive = [] { throw std::runtime_error("no slices"); };
  EXPECT_EQ(table_->receive_frame(decoder_, &frame_), BULKHEAD_FAILED);
  EXPECT_EQ(Error(), "the backend threw: no slices");
  EXPECT_EQ(frame_.width, 0);
}

TEST_F(TableOfTest, AFailureThatCannotBeReturnedIsReturnedByTheNextCall) {
  for (const bool flush : {true, false}) {
    ASSERT_EQ(Open(), BULKHEAD_OK);
    script.at_flush = [] { throw std::runtime_error("no flush"); };
    script.at_release = [] { throw std::runtime_error("no release"); };
    flush ? table_->flush(decoder_) : table_->release_frame(decoder_, &frame_);
    const std::string expected =
        flush ? "the backend threw: no flush" : "the backend threw: no release";
    EXPECT_EQ(table_->send_packet(decoder_, nullptr), BULKHEAD_FAILED);
    EXPECT_EQ(Error(), expected);
    EXPECT_EQ(table_->receive_frame(decoder_, &frame_), BULKHEAD_FAILED);
    EXPECT_EQ(Error(), expected);
    table_->close(decoder_);
    decoder_ = nullptr;
  }
}

TEST_F(TableOfTest, TheSentenceIsTheOutcomesOrTheDecodersOwn) {
  ASSERT_EQ(Open(), BULKHEAD_OK);
  EXPECT_EQ(table_->send_packet(decoder_, nullptr), BULKHEAD_BAD_INPUT);
  EXPECT_EQ(Error(), "the end is damaged");
  FullDecoder::sends_picture = false;
  EXPECT_EQ(table_->receive_frame(decoder_, &frame_), BULKHEAD_FAILED);
  EXPECT_EQ(Error(), "no picture");
}

TEST_F(TableOfTest, StructsOfOtherReleasesAreCopied) {
  parameters_.size = offsetof(bulkhead_open_parameters, max_frame_pixels);
  parameters_.max_frame_pixels = 7;
  codec_.size = offsetof(bulkhead_codec_parameters, seek_preroll);
  codec_.seek_preroll = 7;
  ASSERT_EQ(Open(), BULKHEAD_OK);
  packet_.size = offsetof(bulkhead_packet, position);
  packet_.pts = 3;
  packet_.position = 7;
  EXPECT_EQ(table_->send_packet(decoder_, &packet_), BULKHEAD_OK);
  EXPECT_EQ(script.sent.pts, 3);
  EXPECT_EQ(script.sent.position, 0);
  // A runtime of an earlier release has no memory for the last field.
  frame_.size = offsetof(bulkhead_frame, met_error);
  EXPECT_EQ(table_->receive_frame(decoder_, &frame_), BULKHEAD_OK);
  EXPECT_EQ(frame_.size, offsetof(bulkhead_frame, met_error));
  EXPECT_EQ(frame_.width, 64);
  EXPECT_EQ(frame_.met_error, 0);
  table_->release_frame(decoder_, &frame_);
  EXPECT_EQ(script.released, 64);
}

TEST_F(TableOfTest, TheRuntimeOutlivesTheDecoder) {
  std::string logged;
  runtime_.context = &logged;
  runtime_.log = [](void* context, const char* line) {
    *static_cast<std::string*>(context) = line;
  };
  ASSERT_EQ(Open(), BULKHEAD_OK);
  runtime_.log = nullptr;
  table_->close(decoder_);
  decoder_ = nullptr;
  EXPECT_EQ(logged, "destroyed");
}

// A member is found by its name, so that one that does not fit is not left out
// in silence.
struct Overloads {
  void Release(int);
  void Release(const bulkhead_frame&);
};
class Hides {
  [[maybe_unused]] void Release(const bulkhead_frame&);
  [[maybe_unused]] static constexpr uint32_t kStreamKinds = 2;
  [[maybe_unused]] const std::string& last_error();
};
struct Inherits : Overloads {};
static_assert(internal::kReleases<Overloads>);
static_assert(internal::kReleases<Inherits>);
static_assert(internal::kReleases<Hides>);
static_assert(internal::kHasStreamKinds<Hides>);
static_assert(internal::kHasLastError<Hides>);
static_assert(!internal::kReleases<Bare::Decoder>);
static_assert(!internal::kHasStreamKinds<Bare>);
static_assert(!internal::kHasLastError<Bare::Decoder>);

TEST_F(TableOfTest, OptionalFunctionsMayBeMissing) {
  table_ = TableOf<Bare>();
  EXPECT_EQ(table_->stream_kinds, uint32_t{BULKHEAD_DECODES_VIDEO});
  ASSERT_EQ(Open(), BULKHEAD_OK);
  EXPECT_EQ(table_->send_packet(decoder_, nullptr), BULKHEAD_OK);
  EXPECT_EQ(table_->receive_frame(decoder_, &frame_), BULKHEAD_FAILED);
  EXPECT_EQ(Error(), "");
  table_->release_frame(decoder_, &frame_);
  table_->flush(decoder_);
}

}  // namespace
}  // namespace bulkhead::sdk
