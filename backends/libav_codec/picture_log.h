// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

extern "C" {
#include <libavcodec/codec_id.h>
}

namespace bulkhead::libav_codec {

// Says which pictures are damaged, from the lines that libavcodec logs while
// it decodes them.
//
//     context->reordered_opaque = log.NextPacket(keyframe, pts);
//     log.Begins(context->reordered_opaque);          // in get_buffer2
//     log.Line(context->reordered_opaque, level, format);
//     if (log.IsDamaged(frame->reordered_opaque, pts)) ...
//
// The flags of AVFrame do not show it. With frame threads, a thread outputs a
// copy of the picture that another one may still be decoding, so flags that are
// set later are lost, in some runs and not in others. Some decoders set no
// flags: FFV1 copies slices with a wrong checksum from the picture before, HEVC
// makes up references and leaves out slices, MJPEG gives what was in the buffer
// where a scan cannot be decoded. HEVC says only once that it made up a
// picture, and later pictures refer to it too. So all pictures up to the next
// keyframe count as damaged, and the leading ones of that keyframe, which are
// sent after it and shown before it. A made-up picture that leads a keyframe
// damages only pictures that lead the same one. After a damaged picture of
// H.264 with CAVLC it is the same, even if no picture refers to it: parts of it
// show in the next picture of the same thread.
//
// A line belongs to the packet whose number its context has: libavcodec copies
// reordered_opaque to the thread that decodes the packet, and to the picture.
// All packets up to a picture's own have been decoded when the picture comes
// out, so the answer does not depend on timing.
//
// Only lines that no sound picture causes count as damage. Others of the
// severity of an error are a reason for doubt (TakeError). Remembers the last
// few hundred pictures. Thread-safe.
class PictureLog {
 public:
  // Returns the parts of libavcodec's lines that this looks for. A version that
  // says other words would hide damage.
  static std::vector<std::string_view> Words();

  explicit PictureLog(AVCodecID codec) : codec_(codec) {}

  // Sets how many packets are decoded at the same time (frame threads), in
  // turns; 1 if not called. Must be called before the first packet.
  void SetFrameThreads(int threads) { frame_threads_ = threads; }

  // Returns the number of the packet that is sent next.
  int64_t NextPacket(bool keyframe, int64_t pts);
  // Takes back the number of a packet that the decoder did not take yet.
  int64_t NotTaken();

  // Records that a picture is being decoded from the packet.
  void Begins(int64_t packet);
  // Records a line of that level. `format` is without its values.
  void Line(int64_t packet, int level, const char* format);
  void Flush();

  // Returns whether the picture that was decoded from the packet has parts that
  // libavcodec made up, or refers to a picture that it made up.
  bool IsDamaged(int64_t packet, int64_t pts) const;
  // Returns whether there was an error since the last call, now that the
  // picture of this packet has come out.
  bool TakeError(int64_t packet);

 private:
  struct Picture {
    bool damaged = false;
    bool complete = false;
  };
  // Returns whether the last block of a picture was not decoded, or no scan,
  // once it was time to.
  bool IsIncomplete(int64_t packet, const Picture& picture) const;
  // Returns whether something that was made up may be seen in this picture.
  bool SeesMadeUp(int64_t packet, int64_t pts) const;

  const AVCodecID codec_;
  int frame_threads_ = 1;
  int64_t packets_ = 0;
  mutable std::mutex mutex_;
  std::map<int64_t, Picture> pictures_;   // by packet
  std::map<int64_t, int64_t> keyframes_;  // the timestamps, by packet
  std::set<int64_t> leading_;  // packets shown before the keyframe before them
  // The first picture that was said to be complete.
  int64_t first_complete_ = INT64_MAX;
  // The packets whose pictures are the first to show something made up, and
  // whether only leading pictures may show it.
  std::map<int64_t, bool> made_up_;
  int64_t judged_ = 0;  // the last picture reported as incomplete
  bool met_error_ = false;
};

}  // namespace bulkhead::libav_codec
