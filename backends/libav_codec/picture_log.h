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

// Finds out which pictures are damaged, from the lines that libavcodec logs
// while it decodes them.
//
//     context->reordered_opaque = log.NextPacket(keyframe, pts);
//     log.Begins(context->reordered_opaque);          // in get_buffer2
//     log.Line(context->reordered_opaque, level, format);
//     if (log.IsDamaged(frame->reordered_opaque, pts)) ...
//
// The flags of AVFrame do not show all damage:
//   - With frame threads, a thread outputs a copy of a picture that another
//     thread may still be decoding. Flags that are set later are lost in some
//     runs and not in others.
//   - Some decoders set no flags. FFV1 copies slices with a wrong checksum from
//     the picture before. HEVC makes up missing references and leaves out
//     slices. MJPEG leaves old contents of the buffer where it cannot decode.
//
// HEVC makes up a missing reference picture, and logs that only once. Later
// pictures may refer to the made-up picture, too. Leading pictures follow a
// keyframe in decoding order and precede it in display order. These pictures
// count as damaged:
//   - If a leading picture lacks a reference: this one and the later leading
//     pictures of its keyframe.
//   - If any other picture lacks a reference: all pictures from this one to the
//     next keyframe, and the leading pictures of that keyframe.
//   - After a damaged macroblock of H.264 with CAVLC: as in the second case,
//     but from the next picture that the same thread decodes, which may show
//     remains of the macroblock.
//
// A line belongs to the packet whose number is the reordered_opaque of the
// line's context. libavcodec copies this number to the thread that decodes the
// packet, and to the picture. When a picture comes out, all packets up to its
// own have been decoded, so IsDamaged() does not depend on timing.
//
// A line counts as damage only if sound pictures never cause it. TakeError()
// reports these lines and all others with the severity of an error. Remembers
// the last few hundred pictures. Thread-safe.
class PictureLog {
 public:
  // Returns the parts of libavcodec's lines that this class looks for. A test
  // checks that libavcodec contains them, since damage would go unnoticed if a
  // version used other words.
  static std::vector<std::string_view> Words();

  explicit PictureLog(AVCodecID codec) : codec_(codec) {}

  // Sets the number of frame threads, which take packets in turns; 1 if not
  // called. Must be called before the first packet.
  void SetFrameThreads(int threads) { frame_threads_ = threads; }

  // Numbers the packet that is sent next, and returns its number.
  int64_t NextPacket(bool keyframe, int64_t pts);
  // Takes back the number of the last packet, which the decoder did not take.
  // Returns the number of the packet before it.
  int64_t NotTaken();

  // Records that libavcodec begins to decode a picture from the packet.
  void Begins(int64_t packet);
  // Records a logged line and its severity (AV_LOG_*). `format` is the format
  // string, without its values.
  void Line(int64_t packet, int level, const char* format);
  // Forgets all pictures. Called at a seek.
  void Flush();

  // Returns whether the picture that was decoded from the packet has parts that
  // libavcodec made up, or refers to a picture that it made up.
  bool IsDamaged(int64_t packet, int64_t pts) const;
  // Returns whether libavcodec met an error since the last TakeError(). Call
  // this when the picture of `packet` has come out.
  bool TakeError(int64_t packet);

 private:
  struct Picture {
    bool damaged = false;
    bool complete = false;  // a line said that the picture is complete
  };
  // Returns whether no line said that the picture is complete, though the
  // decoder logs such lines (HEVC, MJPEG).
  bool IsIncomplete(int64_t packet, const Picture& picture) const;
  // Returns whether the picture may refer to a picture that was made up.
  bool SeesMadeUp(int64_t packet, int64_t pts) const;

  const AVCodecID codec_;
  int frame_threads_ = 1;
  int64_t packets_ = 0;  // the number of the last packet
  mutable std::mutex mutex_;
  std::map<int64_t, Picture> pictures_;   // by packet
  std::map<int64_t, int64_t> keyframes_;  // timestamps, by packet
  std::set<int64_t> leading_;             // the packets of leading pictures
  // The packet of the first picture that a line called complete.
  int64_t first_complete_ = INT64_MAX;
  // The packets of pictures with made-up parts, to which later pictures may
  // refer. The value is true if only leading pictures of the same keyframe may.
  std::map<int64_t, bool> made_up_;
  int64_t judged_ = 0;  // TakeError has checked pictures up to this packet
  bool met_error_ = false;
};

}  // namespace bulkhead::libav_codec
