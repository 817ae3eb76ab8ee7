// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/testing/ffmpeg_reference.h"

#include <fcntl.h>
#include <sys/stat.h>

extern "C" {
#include <libavutil/hash.h>
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "backends/cpu/cpu_backend.h"
#include "backends/worker/media/convert/delivery.h"
#include "backends/worker/media/decode/buffer_provider.h"
#include "backends/worker/media/decode/slot_pool.h"
#include "ipc/frame_geometry.h"
#include "ipc/try.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker {
namespace {

using decode::Decoder;
using demux::Demuxer;

constexpr uint32_t kSlots = 3;
// The slots for native pictures. Decoders hold some as references.
constexpr uint32_t kNativeSlots = 16;
constexpr uint64_t kMostPixels = uint64_t{64} << 20;

std::string ShellQuoted(const std::string& path) { return "'" + path + "'"; }

// Returns the 16-bit number of which each float is exactly one 65535th, or an
// empty vector if a float is no such fraction.
std::vector<uint16_t> Undivided(const uint8_t* row, size_t elements) {
  std::vector<uint16_t> numbers(elements);
  for (size_t i = 0; i < elements; ++i) {
    float element;
    std::memcpy(&element, row + i * sizeof(element), sizeof(element));
    numbers[i] = static_cast<uint16_t>(std::lround(element * 65535.0f));
    if (element != static_cast<float>(numbers[i]) / 65535.0f) return {};
  }
  return numbers;
}

// Returns the murmur3 hash that ffmpeg prints, too; it is ten times as fast as
// an MD5. All bytes are passed at once, since libavutil's result depends on how
// the bytes are split.
std::string HashOf(const std::vector<uint8_t>& bytes) {
  AVHashContext* context = nullptr;
  if (av_hash_alloc(&context, "murmur3") < 0) std::abort();
  av_hash_init(context);
  av_hash_update(context, bytes.data(), bytes.size());
  uint8_t text[2 * AV_HASH_MAX_SIZE + 1];
  av_hash_final_hex(context, text, sizeof(text));
  av_hash_freep(&context);
  return reinterpret_cast<const char*>(text);
}

std::string HashOf(const convert::DeliveredFrame& frame, bool floats) {
  std::vector<uint8_t> bytes;
  bytes.reserve(frame.geometry.bytes);
  for (uint32_t i = 0; i < frame.geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = frame.geometry.planes[i];
    for (uint32_t y = 0; y < plane.rows; ++y) {
      const uint8_t* row = frame.data + plane.offset + size_t{y} * plane.stride;
      if (!floats) {
        bytes.insert(bytes.end(), row, row + plane.row_bytes);
        continue;
      }
      const std::vector<uint16_t> numbers =
          Undivided(row, plane.row_bytes / sizeof(float));
      if (numbers.empty()) return "a float between two 16-bit numbers";
      const auto* first = reinterpret_cast<const uint8_t*>(numbers.data());
      bytes.insert(bytes.end(), first,
                   first + numbers.size() * sizeof(uint16_t));
    }
  }
  return HashOf(bytes);
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// Plays a stream as a session does, but without a host: reads each frame, and
// grants its slot again one frame later.
class Player {
 public:
  Player(Demuxer& demuxer, const convert::OutputFormat& format)
      : demuxer_(demuxer),
        slots_(format.native ? kNativeSlots : kSlots),
        buffers_(size_t{1} << 30),
        converter_(demuxer.display_matrix_untrusted(), kMostPixels, format) {}

  ipc::Expected<Decoding> Play(int64_t not_before) {
    bulkhead_open_parameters parameters{};
    parameters.size = sizeof(parameters);
    parameters.codec = &demuxer_.codec_parameters();
    parameters.threads = 1;
    parameters.incarnation = 1;
    parameters.max_frame_pixels = kMostPixels;
    IPC_ASSIGN_OR_RETURN(
        const auto decoder,
        Decoder::Open(*bulkhead_cpu_backend(), parameters, *buffers_.runtime(),
                      std::chrono::seconds(5)));
    auto played = Loop(*decoder, not_before);
    delivery_.reset();
    if (!played) return tl::unexpected(std::move(played.error()));
    return std::move(result_);
  }

 private:
  ipc::Expected<void> Loop(Decoder& decoder, int64_t not_before) {
    decode::DecodedFrame frame;
    for (;;) {
      IPC_ASSIGN_OR_RETURN(const auto received, decoder.ReceiveFrame(&frame));
      switch (received) {
        case Decoder::Received::kEndOfStream:
          return {};
        case Decoder::Received::kDamaged:
          break;
        case Decoder::Received::kNeedsPacket: {
          IPC_TRY(SendNext(decoder));
          break;
        }
        case Decoder::Received::kFrame: {
          // A picture without a timestamp, as some decoders yield at the end,
          // belongs to its predecessor.
          if (frame->pts < not_before &&
              (frame->pts != BULKHEAD_NO_TIMESTAMP || !last_)) {
            break;
          }
          IPC_TRY(Show(frame));
          break;
        }
      }
    }
  }

  ipc::Expected<void> SendNext(Decoder& decoder) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_.ReadPacket());
    IPC_TRY(decoder.SendPacket(read ? &demuxer_.packet() : nullptr));
    return {};
  }

  std::shared_ptr<decode::SlotPool> MakePool(size_t slot_bytes) {
    memory_.emplace_back(
        static_cast<uint8_t*>(std::aligned_alloc(4096, slot_bytes * slots_)));
    return std::make_shared<decode::SlotPool>(memory_.back().get(), slots_,
                                              slot_bytes);
  }

  void GrantAll() {
    for (uint32_t slot = 0; slot < slots_; ++slot) delivery_->Grant(slot, 1);
  }

  ipc::Expected<void> Show(decode::DecodedFrame& frame) {
    if (delivery_ == nullptr) {
      IPC_ASSIGN_OR_RETURN(const auto shape, converter_.Prepare(*frame));
      floats_ = shape.element == ipc::ElementType::kFloat32;
      delivery_ = std::make_unique<convert::FrameDelivery>(
          MakePool(shape.geometry.bytes), buffers_, converter_);
      GrantAll();
    }
    const int64_t pts = frame->pts;
    const uint8_t* decoded = frame->data[0];
    IPC_ASSIGN_OR_RETURN(auto placed, delivery_->Place(frame));
    if (!placed && delivery_->outgrown()) {
      delivery_->ReplacePool(MakePool(converter_.shape().geometry.bytes));
      GrantAll();
      last_.reset();
      IPC_ASSIGN_OR_RETURN(placed, delivery_->Place(frame));
    }
    if (!placed) {
      return ipc::Fail(ipc::Code::kInternal, "no slot was free");
    }
    IPC_ASSIGN_OR_RETURN(const auto delivered, delivery_->Convert(*placed));
    result_.timestamps.push_back(pts);
    result_.hashes.push_back(HashOf(delivered, floats_));
    result_.delivered_in_place += delivered.data == decoded ? 1 : 0;
    if (last_) delivery_->Grant(last_->slot, last_->generation + 1);
    last_ = delivered;
    return {};
  }

  Demuxer& demuxer_;
  const uint32_t slots_;
  bool floats_ = false;
  std::vector<std::unique_ptr<uint8_t, Free>> memory_;  // of the pools
  decode::BufferProvider buffers_;
  convert::OutputConverter converter_;
  std::unique_ptr<convert::FrameDelivery> delivery_;
  std::optional<convert::DeliveredFrame> last_;
  Decoding result_;
};

}  // namespace

bool HasFfmpeg() {
  return std::system("ffmpeg -version > /dev/null 2>&1") == 0;
}

bool RunFfmpeg(const std::string& arguments) {
  return std::system(
             ("ffmpeg -nostdin -v error -y " + arguments + " 2>/dev/null")
                 .c_str()) == 0;
}

std::vector<std::string> FfmpegHashes(const std::string& path,
                                      const std::string& map,
                                      const std::string& format,
                                      const std::string& filters) {
  const std::string command =
      "ffmpeg -nostdin -v quiet -threads 1 " +
      std::string(format.empty() ? "-noautorotate " : "") + "-i " +
      ShellQuoted(path) + " -map " + map +
      (filters.empty() ? "" : " -vf " + filters) +
      (format.empty() ? "" : " -pix_fmt " + format) +
      " -fps_mode passthrough -f framehash -hash murmur3 -";
  std::vector<std::string> hashes;
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return hashes;
  char line[512];
  while (std::fgets(line, sizeof(line), pipe) != nullptr) {
    // The hash is the last of the fields of a line, after the last comma.
    const std::string text(line, std::strcspn(line, "\n"));
    const size_t comma = text.rfind(',');
    if (text.empty() || text[0] == '#' || comma == std::string::npos) continue;
    hashes.push_back(text.substr(text.find_first_not_of(' ', comma + 1)));
  }
  pclose(pipe);
  return hashes;
}

std::vector<float> FfmpegSamples(const std::string& path,
                                 const std::string& options) {
  const std::string command = "ffmpeg -nostdin -v quiet -threads 1 -i " +
                              ShellQuoted(path) + " -map 0:a:0" + options +
                              " -f f32le -";
  std::vector<float> samples;
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return samples;
  float some[4096];
  while (const size_t read = std::fread(some, sizeof(float), 4096, pipe)) {
    samples.insert(samples.end(), some, some + read);
  }
  pclose(pipe);
  return samples;
}

ipc::Expected<std::unique_ptr<Demuxer>> OpenFile(const std::string& path,
                                                 int32_t stream_index,
                                                 demux::StreamKind kind) {
  ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || fstat(fd.get(), &status) != 0) {
    return ipc::Fail(ipc::Code::kNotFound, path);
  }
  auto demuxer =
      Demuxer::Open(fd.get(), status.st_size, path, stream_index, kind);
  // Never closed: the demuxer reads from it until the end of the test.
  if (demuxer) fd.release();
  return demuxer;
}

ipc::Expected<Decoding> DecodeOnward(Demuxer& demuxer, int64_t not_before,
                                     const convert::OutputFormat& format) {
  return Player(demuxer, format).Play(not_before);
}

ipc::Expected<Decoding> DecodeFile(const std::string& path,
                                   int32_t stream_index,
                                   const convert::OutputFormat& format) {
  IPC_ASSIGN_OR_RETURN(const auto demuxer, OpenFile(path, stream_index));
  return DecodeOnward(*demuxer, INT64_MIN, format);
}

std::string TemporaryPath(const std::string& name) {
  const char* directory = std::getenv("TEST_TMPDIR");
  return std::string(directory != nullptr ? directory : "/tmp") + "/" + name;
}

}  // namespace bulkhead::worker
