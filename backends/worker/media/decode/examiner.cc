// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/examiner.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <sstream>
#include <string_view>

#include "backends/sdk/bulkhead_backend.hpp"
#include "backends/worker/media/decode/abi_breach.h"
#include "backends/worker/media/decode/frame_contents.h"
#include "ipc/try.h"

namespace bulkhead::worker::decode {
namespace {

constexpr std::string_view kPrefix = "bulkhead.";
constexpr size_t kPacketPadding = 64;
// The number of weights in a row that must each exceed the previous one. Fewer
// would not do: malloc()'s caches for the threads of a decoder grow, too, by up
// to 200 bytes for each open at first and by 40 after a thousand opens. Over so
// many weights they do not grow each time.
constexpr size_t kWeights = 20;
// A leak loses at least this much with each open.
constexpr uint64_t kLeastLeak = 24;

// Returns the number of bytes that malloc() has handed out and that were not
// freed.
uint64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Returns whether `value` is in `allowed`, a list such as "1|2".
bool IsOneOf(const std::string& value, const std::string& allowed) {
  std::istringstream values(allowed);
  for (std::string each; std::getline(values, each, '|');) {
    if (each == value) return true;
  }
  return false;
}

bool Read(const std::string& text, uint64_t* number) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number);
  return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

// Wraps the runtime's services: counts references to buffers, and can make
// acquire_buffer fail after a number of buffers, or always.
struct Examiner::Service {
  bulkhead_runtime inner{};
  bulkhead_runtime outer{};
  std::atomic<uint64_t> left{0};       // buffers until acquire_buffer fails
  std::atomic<bool> has_none{false};   // acquire_buffer fails always
  std::atomic<int64_t> references{0};  // held by the decoder

  static bulkhead_result Acquire(void* self,
                                 const bulkhead_buffer_request* request,
                                 bulkhead_buffer* buffer) {
    auto* const service = static_cast<Service*>(self);
    if (service->has_none) return BULKHEAD_UNSUPPORTED;
    uint64_t left = service->left;
    do {
      if (left == 0) return BULKHEAD_OUT_OF_MEMORY;
    } while (!service->left.compare_exchange_weak(left, left - 1));
    const bulkhead_result result =
        service->inner.acquire_buffer(service->inner.context, request, buffer);
    if (result == BULKHEAD_OK) ++service->references;
    return result;
  }
  static void Reference(void* self, void* handle) {
    ++static_cast<Service*>(self)->references;
    const bulkhead_runtime& inner = static_cast<Service*>(self)->inner;
    inner.reference_buffer(inner.context, handle);
  }
  static void Release(void* self, void* handle) {
    --static_cast<Service*>(self)->references;
    const bulkhead_runtime& inner = static_cast<Service*>(self)->inner;
    inner.release_buffer(inner.context, handle);
  }
  static void Log(void* self, const char* line) {
    const bulkhead_runtime& inner = static_cast<Service*>(self)->inner;
    inner.log(inner.context, line);
  }
};

Examiner::Examiner() = default;
Examiner::~Examiner() = default;

ipc::Expected<std::unique_ptr<Examiner>> Examiner::TakeFrom(Options& options) {
  std::unique_ptr<Examiner> examiner;
  for (auto option = options.begin(); option != options.end();) {
    if (!option->first.starts_with(kPrefix)) {
      ++option;
      continue;
    }
    if (!examiner) examiner.reset(new Examiner);
    IPC_TRY(examiner->Set(option->first, option->second));
    option = options.erase(option);
  }
  return examiner;
}

ipc::Expected<void> Examiner::Set(const std::string& key,
                                  const std::string& value) {
  const std::string_view name = std::string_view(key).substr(kPrefix.size());
  uint64_t number = 0;
  bool known = Read(value, &number);
  if (name == "hold-frames") {
    hold_ = number;
  } else if (name == "end-twice") {
    ends_twice_ = number != 0;
  } else if (name == "cut-packet") {
    cut_packet_ = number;
  } else if (name == "refuse-buffers") {
    most_buffers_ = number;
  } else if (name == "without-buffers") {
    without_buffers_ = number != 0;
  } else if (name == "weigh-opens") {
    weigh_every_ = number;
  } else {
    known = name == "expect";
  }
  // Each word is a field and its values, such as "color_space=1|2".
  std::istringstream words(name == "expect" ? value : "");
  for (std::string word; known && words >> word;) {
    const size_t equals = std::min(word.find('='), word.size() - 1);
    expected_.emplace_back(
        FindFrameField(std::string_view(word).substr(0, equals)),
        word.substr(equals + 1));
    known = expected_.back().first != nullptr;
  }
  if (known) return {};
  return ipc::Fail(ipc::Code::kUnsupported,
                   "options that begin with \"bulkhead.\" are for the tests of "
                   "backends, and there is no " +
                       key + " = \"" + value + '"');
}

ipc::Expected<void> Examiner::Opens() {
  packets_ = 0;
  IPC_TRY(FoundChanged());
  if (kept_ > 0) {
    return tl::unexpected(BreachOf(
        "close returned, and " + std::to_string(kept_) +
            " references to buffers of acquire_buffer were not given back",
        "acquire-3", "Before close returns, the backend has given back each"));
  }
  if (weigh_every_ == 0 || ++opens_ % weigh_every_ != 0) return {};
  weights_.push_back(AllocatedBytes());
  if (weights_.size() < kWeights) return {};
  // The least growth from one weight to the next.
  uint64_t least = UINT64_MAX;
  for (size_t i = 1; i < weights_.size(); ++i) {
    const uint64_t before = weights_[i - 1];
    least = std::min(least, std::max(weights_[i], before) - before);
  }
  weights_.erase(weights_.begin());
  if (least < kLeastLeak * weigh_every_) return {};
  return tl::unexpected(BreachOf(
      "after " + std::to_string(opens_) + " times open and close, there are " +
          std::to_string(least / weigh_every_) +
          " bytes for each that malloc() gave and never got back",
      "close-1", "Frees the decoder"));
}

const bulkhead_runtime& Examiner::ServicesOver(
    const bulkhead_runtime& runtime) {
  if (!service_) service_ = std::make_unique<Service>();
  service_->inner = runtime;
  service_->left = most_buffers_.value_or(UINT64_MAX);
  service_->has_none = without_buffers_;
  service_->references = 0;
  service_->outer = {sizeof(bulkhead_runtime),
                     runtime.abi_version,
                     service_.get(),
                     &Service::Acquire,
                     &Service::Reference,
                     &Service::Release,
                     &Service::Log};
  return service_->outer;
}

const bulkhead_packet* Examiner::InPlaceOf(const bulkhead_packet* packet) {
  if (packet == nullptr) return packet;
  if (++packets_ != cut_packet_) return packet;
  bytes_.assign(packet->data, packet->data + packet->bytes / 2);
  bytes_.resize(bytes_.size() + kPacketPadding);
  cut_ = *packet;
  cut_.data = bytes_.data();
  cut_.bytes /= 2;
  return &cut_;
}

ipc::Expected<void> Examiner::Received(const bulkhead_frame& frame) {
  ++frames_;
  for (const auto& [field, wanted] : expected_) {
    const std::string got = field->value(frame);
    if (IsOneOf(got, wanted)) continue;
    return tl::unexpected(BreachOf("frame " + std::to_string(frames_ - 1) +
                                       " has the " + std::string(field->name) +
                                       " " + got + " and not " + wanted,
                                   field->clause, field->words));
  }
  if (hold_ > 0) {
    held_.push_back({frame, HashOf(frame), frames_ - 1, /*given_back=*/false});
  }
  return {};
}

void Examiner::GivenBack(const bulkhead_backend& backend,
                         bulkhead_decoder* decoder,
                         const bulkhead_frame& frame) {
  // Finds the entry that Received has made for this frame, if it has.
  const auto held =
      std::find_if(held_.begin(), held_.end(), [&](const HeldFrame& each) {
        return !each.given_back && each.frame.pts == frame.pts &&
               each.frame.data[0] == frame.data[0] &&
               each.frame.private_data == frame.private_data;
      });
  bulkhead_frame released = frame;
  if (held == held_.end()) return backend.release_frame(decoder, &released);
  held->frame = frame;
  held->given_back = true;
  while (held_.size() > hold_ && held_.front().given_back) {
    ReleaseFirst(backend, decoder);
  }
}

void Examiner::ReleaseFirst(const bulkhead_backend& backend,
                            bulkhead_decoder* decoder) {
  HeldFrame first = held_.front();
  held_.pop_front();
  if (!changed_ && HashOf(sdk::TakeSized(first.frame)) != first.hash) {
    changed_ = BreachOf("frame " + std::to_string(first.number) +
                            " changed between receive_frame and release_frame",
                        "frame-5", "stay unchanged until release_frame");
  }
  backend.release_frame(decoder, &first.frame);
}

void Examiner::ReleaseAll(const bulkhead_backend& backend,
                          bulkhead_decoder* decoder) {
  while (!held_.empty() && held_.front().given_back) {
    ReleaseFirst(backend, decoder);
  }
}

void Examiner::Closed() {
  if (service_) kept_ = service_->references;
}

ipc::Expected<void> Examiner::FoundChanged() {
  if (!changed_) return {};
  return tl::unexpected(*std::exchange(changed_, std::nullopt));
}

}  // namespace bulkhead::worker::decode
