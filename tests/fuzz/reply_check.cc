// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/reply_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/application/frames/frame_times.h"
#include "core/application/frames/given_index.h"
#include "core/application/worker_link/output_options.h"
#include "core/control/picture_hasher.h"
#include "core/worker_protocol/audio_validation.h"
#include "core/worker_protocol/description_validation.h"
#include "core/worker_protocol/reply_validation.h"
#include "ipc/frame_geometry.h"
#include "ipc/index_entry.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/printable_check.h"

namespace bulkhead::fuzz {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxTextBytes = 512;
constexpr uint32_t kSlots = 3;
constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint64_t kMediaBytes = 1000;
// So many frames and blocks of samples are held at a time.
constexpr size_t kHeld = 1;

void CheckTiming(const StreamTiming& timing) {
  FUZZ_CHECK(std::isfinite(timing.begin_seconds));
  for (const auto& seconds :
       {timing.begin_seconds_from_header, timing.begin_seconds_from_content,
        timing.end_seconds_from_content, timing.end_seconds}) {
    FUZZ_CHECK(!seconds || std::isfinite(*seconds));
  }
  for (const auto& seconds :
       {timing.duration_seconds_from_header, timing.duration_seconds}) {
    FUZZ_CHECK(!seconds || (std::isfinite(*seconds) && *seconds >= 0));
  }
  FUZZ_CHECK(!timing.average_fps ||
             (std::isfinite(*timing.average_fps) && *timing.average_fps >= 0));
}

void CheckRatio(const Ratio& ratio) {
  FUZZ_CHECK(ratio.numerator >= 0 && ratio.denominator >= 0);
  FUZZ_CHECK(std::isfinite(ratio.value()));
}

// Reads each byte of the rows, as an application does.
uint64_t ReadRows(const std::byte* rows, uint32_t count, size_t row_bytes,
                  size_t stride) {
  static const PictureHasher hasher(1);
  return hasher(rows, 1, count, row_bytes, stride);
}

}  // namespace

ReplyCheck::ReplyCheck(const Asked& asked)
    : limits_{.frame_pixels = 1 << 14,
              .session_bytes = kPoolBytes,
              .frame_slots = kSlots,
              .streams = 16,
              .index_frames = 512},
      options_{.output_dtype =
                   asked.float32 ? OutputDtype::kFloat32 : OutputDtype::kUint8,
               .output_format =
                   asked.native ? OutputFormat::kNative : OutputFormat::kRgb,
               .autoscale = asked.autoscale},
      maps_privately_(asked.maps_privately),
      media_{.read = [](uint64_t, std::span<std::byte> out) -> Result<size_t> {
               return out.size();
             },
             .bytes = kMediaBytes},
      index_(limits_.index_frames) {}

bool ReplyCheck::Take(schema::Reply::Reader reply_untrusted) {
  switch (reply_untrusted.which()) {
    case schema::Reply::OPENED:
      return TakeOpened(reply_untrusted.getOpened());
    case schema::Reply::OPENED_AUDIO:
      return TakeOpenedAudio(reply_untrusted.getOpenedAudio());
    case schema::Reply::FAILED:
      return TakeFailure(reply_untrusted.getFailed().getFailure());
    case schema::Reply::INDEX_CHUNK:
      return TakeIndex(reply_untrusted.getIndexChunk());
    case schema::Reply::INDEX_END:
      CheckIndex();
      return true;
    case schema::Reply::FRAME:
      return TakeFrame(reply_untrusted.getFrame());
    case schema::Reply::SAMPLES:
      return TakeSamples(reply_untrusted.getSamples());
    case schema::Reply::NEEDS_POOL:
      return TakeNeed(reply_untrusted.getNeedsPool());
    case schema::Reply::DESCRIBED:
      return TakeDescribed(reply_untrusted.getDescribed());
    case schema::Reply::READ:
      return TakeRead(reply_untrusted.getRead());
    case schema::Reply::UNSEEN:
      CheckPrintable(
          worker_protocol::CleanWords(reply_untrusted.getUnseen().getWords()),
          kMaxTextBytes);
      return true;
    case schema::Reply::LOST_SAMPLES:
      CheckPrintable(worker_protocol::CleanWords(
                         reply_untrusted.getLostSamples().getWords()),
                     kMaxTextBytes);
      return true;
    default:
      return false;
  }
}

bool ReplyCheck::TakeOpened(schema::Opened::Reader opened_untrusted) {
  auto opened = worker_protocol::ValidateOpened(opened_untrusted, limits_);
  if (!opened || !worker_link::AddOutputIfValid(opened_untrusted, options_,
                                                limits_, *opened)
                      .ok()) {
    return false;
  }
  FUZZ_CHECK(opened->width > 0 && opened->height > 0);
  FUZZ_CHECK(uint64_t{opened->width} * opened->height <= limits_.frame_pixels);
  FUZZ_CHECK(opened->stream_count <= limits_.streams);
  FUZZ_CHECK(static_cast<uint32_t>(opened->stream_index) <
             opened->stream_count);
  FUZZ_CHECK(opened->rotation % 90 == 0 && opened->rotation / 90 < 4);
  FUZZ_CHECK(opened->bit_rate >= 0);
  for (const std::string& text :
       {opened->container, opened->codec, opened->pixel_format}) {
    CheckPrintable(text, kMaxTextBytes);
  }
  FUZZ_CHECK(opened->time_base.value() > 0);
  CheckRatio(opened->average_frame_rate);
  CheckRatio(opened->base_frame_rate);
  CheckRatio(opened->sample_aspect_ratio);
  CheckTiming(*opened);

  worker_protocol::PictureShape shape{
      .width = opened->width,
      .height = opened->height,
      .element = worker_link::ElementOf(opened->dtype)};
  if (options_.output_format == OutputFormat::kNative) {
    auto native = worker_protocol::NativeFormat::Create(
        opened->pixel_format, opened->width, opened->height,
        limits_.frame_pixels);
    if (!native) return false;
    shape.native = *std::move(native);
  }
  const auto geometry =
      worker_protocol::GeometryOf(shape, limits_.frame_pixels);
  if (!geometry || !MakePool(geometry->bytes)) return false;
  const auto approximate =
      frames::ApproximateIndexOf(*opened, limits_.index_frames);
  FUZZ_CHECK(!approximate || approximate->size() <= limits_.index_frames);
  shape_ = std::move(shape);
  video_ = *std::move(opened);
  channels_ = 0;
  return true;
}

bool ReplyCheck::TakeOpenedAudio(schema::OpenedAudio::Reader opened_untrusted) {
  const auto opened = worker_protocol::ValidateOpenedAudio(
      opened_untrusted, AudioOptions(), limits_);
  if (!opened) return false;
  const AudioMetadata& metadata = opened->metadata;
  FUZZ_CHECK(opened->channels > 0 &&
             opened->channels <= worker_protocol::kMaxChannels);
  FUZZ_CHECK(opened->sample_rate > 0 &&
             opened->sample_rate <= worker_protocol::kMaxSampleRate);
  FUZZ_CHECK(static_cast<uint32_t>(metadata.stream_index) <
             metadata.stream_count);
  for (const std::string& text :
       {metadata.container, metadata.codec, metadata.sample_format,
        metadata.channel_layout}) {
    CheckPrintable(text, kMaxTextBytes);
  }
  FUZZ_CHECK(metadata.time_base.value() > 0);
  CheckTiming(metadata);
  if (!MakePool(4096)) return false;
  channels_ = opened->channels;
  return true;
}

bool ReplyCheck::TakeFrame(schema::PublishedFrame::Reader frame_untrusted) {
  if (channels_ > 0 || !pool_) return false;
  worker_protocol::PictureShape shape = shape_;
  if (!options_.autoscale) {
    auto own = worker_protocol::OwnShapeIfValid(
        frame_untrusted.getWidth(), frame_untrusted.getHeight(),
        frame_untrusted.getPixelFormat().cStr(), shape_, limits_.frame_pixels);
    if (!own) return false;
    shape = *std::move(own);
  }
  auto lease =
      worker_protocol::AdoptPictureIfValid(frame_untrusted, shape, pool_);
  if (!lease) {
    GrantAll();
    return false;
  }
  FUZZ_CHECK(uint64_t{shape.width} * shape.height <= limits_.frame_pixels);
  const std::byte* const slot = (*lease)->pixels();
  if (shape.native) {
    FUZZ_CHECK(frame_untrusted.getStride() == shape.native->geometry.stride);
    const ipc::FrameGeometry& geometry = shape.native->geometry;
    for (size_t i = 0; i < geometry.plane_count; ++i) {
      const ipc::PlaneGeometry& plane = geometry.planes[i];
      FUZZ_CHECK(plane.rows > 0 && plane.row_bytes <= plane.stride);
      FUZZ_CHECK(plane.offset + uint64_t{plane.stride} * plane.rows <=
                 pool_->slot_bytes());
      (void)ReadRows(slot + plane.offset, plane.rows, plane.row_bytes,
                     plane.stride);
    }
    FUZZ_CHECK(shape.native->Pack(slot).size() <= pool_->slot_bytes());
    const auto facts =
        worker_protocol::ValidateFacts(frame_untrusted.getFacts());
    FUZZ_CHECK(!facts ||
               (facts->color.range <= 2 && facts->color.chroma_location <= 6));
  } else {
    const uint64_t row_bytes =
        uint64_t{shape.width} * ipc::BytesPerPixel(shape.element);
    FUZZ_CHECK(row_bytes <= frame_untrusted.getStride());
    FUZZ_CHECK(uint64_t{frame_untrusted.getStride()} * shape.height <=
               pool_->slot_bytes());
    (void)ReadRows(slot, shape.height, row_bytes, frame_untrusted.getStride());
  }
  shape_ = std::move(shape);
  Hold(*std::move(lease));
  return true;
}

bool ReplyCheck::TakeSamples(
    schema::PublishedSamples::Reader samples_untrusted) {
  if (channels_ == 0) return false;
  auto lease =
      worker_protocol::AdoptSamplesIfValid(samples_untrusted, channels_, pool_);
  if (!lease) {
    GrantAll();
    return false;
  }
  const uint64_t bytes =
      uint64_t{samples_untrusted.getCount()} * channels_ * sizeof(float);
  FUZZ_CHECK(bytes > 0 && bytes <= pool_->slot_bytes());
  (void)ReadRows((*lease)->pixels(), 1, bytes, bytes);
  Hold(*std::move(lease));
  return true;
}

bool ReplyCheck::TakeNeed(schema::NeedsPool::Reader needs_untrusted) {
  if (channels_ > 0 || !pool_) return false;
  const auto shape = worker_protocol::OwnShapeIfValid(
      needs_untrusted.getWidth(), needs_untrusted.getHeight(),
      needs_untrusted.getPixelFormat().cStr(), shape_, limits_.frame_pixels);
  if (!shape) return false;
  const auto geometry =
      worker_protocol::GeometryOf(*shape, limits_.frame_pixels);
  FUZZ_CHECK(geometry);
  return geometry->bytes > pool_->slot_bytes() && MakePool(geometry->bytes);
}

bool ReplyCheck::TakeIndex(schema::IndexChunk::Reader chunk_untrusted) {
  const auto bytes = chunk_untrusted.getEntries();
  std::vector<ipc::IndexEntry> entries(bytes.size() / sizeof(ipc::IndexEntry));
  if (entries.empty()) return false;
  std::memcpy(entries.data(), bytes.begin(),
              entries.size() * sizeof(ipc::IndexEntry));
  return index_.Add(entries).ok();
}

void ReplyCheck::CheckIndex() {
  frames::FrameIndex index =
      std::exchange(index_, frames::FrameIndex(limits_.index_frames));
  index.Finish();
  FUZZ_CHECK(index.size() <= limits_.index_frames);
  for (size_t i = 0; i < index.size(); ++i) {
    FUZZ_CHECK(index.EntryOf(i).value_or(0) <= i);
    if (!index.timestamped()) continue;
    FUZZ_CHECK(i == 0 || index[i - 1].pts < index[i].pts);
    FUZZ_CHECK(index.Find(index[i].pts) == i);
  }
  const auto& keyframes = index.keyframes();
  FUZZ_CHECK(std::is_sorted(keyframes.begin(), keyframes.end()));
  FUZZ_CHECK(keyframes.empty() || keyframes.back() < index.size());

  // No host scans a stream that it has not opened.
  if (video_.time_base.value() <= 0) return;
  const auto times = frames::FrameTimes::Create(index, video_.time_base,
                                                video_.average_frame_rate);
  if (!times) return;
  FUZZ_CHECK(std::isfinite(times->begin()) && std::isfinite(times->end()));
  const double middle = (times->begin() + times->end()) / 2;
  for (const double seconds : {times->begin(), middle, times->end()}) {
    const auto frame = times->PlayedAt(seconds);
    FUZZ_CHECK(!frame || *frame < index.size());
    for (const std::optional<double> fps :
         {std::optional<double>(), std::optional<double>(25.0)}) {
      const auto range = times->PlayedInRange(times->begin(), seconds, fps,
                                              limits_.index_frames);
      if (!range) continue;
      FUZZ_CHECK(range->indices.size() <= limits_.index_frames);
      for (const uint64_t number : range->indices) {
        FUZZ_CHECK(number < index.size());
      }
    }
  }
}

bool ReplyCheck::TakeDescribed(schema::Described::Reader described_untrusted) {
  if (described_untrusted.isContainer()) {
    auto claimed = worker_protocol::ValidateContainer(
        described_untrusted.getContainer(), limits_.streams);
    if (!claimed) return false;
    FUZZ_CHECK(claimed->stream_count <= limits_.streams);
    container_ = std::move(claimed->container);
    CheckPrintable(container_.format, kMaxTextBytes);
    CheckPrintable(container_.title, kMaxTextBytes);
    for (const auto& best :
         {container_.best_video_stream, container_.best_audio_stream}) {
      FUZZ_CHECK(!best || static_cast<uint32_t>(*best) < claimed->stream_count);
    }
    streams_to_come_ = claimed->stream_count;
    FUZZ_CHECK(!ToJson(container_).empty());
    return true;
  }
  if (!described_untrusted.isStream() || streams_to_come_ == 0) return false;
  auto stream = worker_protocol::ValidateStream(described_untrusted.getStream(),
                                                container_);
  if (!stream) return false;
  --streams_to_come_;
  for (const std::string& text :
       {stream->codec, stream->profile, stream->language, stream->title,
        stream->pixel_format, stream->sample_format, stream->channel_layout}) {
    CheckPrintable(text, kMaxTextBytes);
  }
  for (const Ratio& ratio :
       {stream->time_base, stream->sample_aspect_ratio,
        stream->average_frame_rate, stream->base_frame_rate}) {
    CheckRatio(ratio);
  }
  CheckTiming(*stream);
  container_.streams.push_back(*std::move(stream));
  FUZZ_CHECK(!ToJson(container_).empty());
  return true;
}

bool ReplyCheck::TakeFailure(schema::Failure::Reader failure_untrusted) {
  const auto claimed = worker_protocol::ValidateFailure(failure_untrusted);
  if (!claimed) {
    FUZZ_CHECK(claimed.error().code() == Code::kBackendMisbehaved);
    CheckPrintable(claimed.error().message(), kMaxTextBytes);
    return false;
  }
  const Code code = claimed->status.code();
  for (const Code known_to_the_host_alone :
       {Code::kBackendLost, Code::kBackendMisbehaved, Code::kDeadlineExceeded,
        Code::kPoisonedInput, Code::kCancelled, Code::kSandboxUnavailable}) {
    FUZZ_CHECK(code != known_to_the_host_alone);
  }
  CheckPrintable(claimed->status.message(), kMaxTextBytes);
  return true;
}

bool ReplyCheck::TakeRead(schema::Read::Reader read_untrusted) {
  if (!served_) {
    auto served = worker_protocol::ServedMedia::Create(media_, nullptr);
    FUZZ_CHECK(served);
    served_ = *std::move(served);
  }
  return served_->Serve(read_untrusted.getOffset(), read_untrusted.getSerial())
      .ok();
}

bool ReplyCheck::MakePool(uint64_t slot_bytes) {
  auto pool = worker_protocol::FramePool::Create(
      slot_bytes, "frames", kSlots, limits_.session_bytes,
      worker_protocol::FramePool::Slots::kAllocated);
  if (!pool) return false;
  // Frames outlive their pool's use, so what is held stays.
  pool_ = *std::move(pool);
  GrantAll();
  return true;
}

void ReplyCheck::Hold(std::shared_ptr<worker_protocol::FrameLease> lease) {
  FUZZ_CHECK(lease->in_slot());
  const uint64_t offset =
      static_cast<uint64_t>(lease->pixels() - pool_->slot(0));
  FUZZ_CHECK(offset % pool_->slot_bytes() == 0);
  FUZZ_CHECK(offset / pool_->slot_bytes() < pool_->slot_count());
  if (maps_privately_) {
    const auto mapping = lease->MapPrivate();
    FUZZ_CHECK(mapping && mapping->bytes().size() == pool_->slot_bytes());
    mapping->bytes().back() = std::byte{1};
  }
  held_.push_back(std::move(lease));
  if (held_.size() > kHeld) held_.pop_front();
  GrantAll();
  ++published_;
}

void ReplyCheck::GrantAll() {
  ipc::SlotLedger& ledger = pool_->ledger();
  while (ledger.TakeForGrant()) {
  }
  FUZZ_CHECK(ledger.granted_count() + ledger.leased_count() ==
             pool_->slot_count());
  FUZZ_CHECK(ledger.leased_count() <= kHeld);
}

}  // namespace bulkhead::fuzz
