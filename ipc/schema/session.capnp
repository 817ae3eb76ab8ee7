# SPDX-License-Identifier: Apache-2.0
# The protocol of one session, between the host (the application's libbulkhead,
# trusted) and a session worker (hostile after its first byte of media).
#
# Hello, Attach and Types.CrashNote travel as one SOCK_SEQPACKET message each,
# the second with descriptors.
# Request and Reply travel in the shared-memory rings (../FORMAT.md), one
# single-segment message a record.
#
# The worker answers requests in order. Between two requests it decodes ahead
# into granted slots, as far as the last `play` allows. It validates nothing
# that the host sends beyond memory safety: the host is trusted.
# The host validates everything.
@0xa970d0790cd59c77;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");
using Types = import "types.capnp";

struct Hello {
  # Worker to host, once, after its lock-down is complete.
  protocolVersion @0 :UInt32;
  seccompMode @1 :UInt32;
  # The worker's claim, for diagnostics only.
}

struct Attach {
  # Host to worker.
  union {
    session @0 :Void;
    # Descriptors: request memfd (read-only), reply memfd, eventfd that wakes
    # the worker, eventfd that wakes the host, media.
    framePool @1 :FramePool;
    # Descriptor: the pool's memfd. Sent after `opened`; a later one replaces.
    servedSession @2 :Void;
    # As session, with a window (../media_window_layout.h) instead of the media, whose
    # bytes the host has: see Reply.read.
  }
}

struct FramePool {
  slotCount @0 :UInt32;
  slotBytes @1 :UInt64;
  # Slot i is [i * slotBytes, (i + 1) * slotBytes) of the memfd.
}

struct Request {
  union {
    open @0 :Open;
    # First request. Answered by opened or failed.
    scan @1 :Void;
    # Reads every packet of the stream without decoding. Answered by any number
    # of indexChunk and one indexEnd, or failed. The next play must seek.
    play @2 :Play;
    # Answered by up to maxFrames frame replies and one paused, endOfStream or
    # failed, all with its epoch. A later play cancels it at the next frame.
    grant @3 :Grant;
    # No answer: the slot is the worker's until it is published in a frame.
    attachPool @4 :Void;
    # The framePool Attach was sent on the socket: receive it now. Answered by
    # poolAttached or failed.
    describe @5 :Describe;
    # Instead of open, or beside it: what the container declares, of any kind of
    # stream, without a decoder. Answered by any number of described.scanned,
    # then described.container, then one described.stream for each stream in
    # their order; or failed.
  }
}

struct Open {
  nameHint @0 :Text;
  # Base name of the source: demuxers are chosen by extension where the bytes
  # leave it open. Never opened.
  device @1 :UInt32;
  # Ordinal of the device within the backend.
  streamIndex @2 :Int32;
  # Absolute index in the container; -1 is the first video stream that is not a
  # cover picture, else the first video stream.
  threads @3 :UInt32;
  # 0: the decoder chooses.
  options @4 :List(Types.KeyValue);
  incarnation @5 :UInt32;
  # Lives of this session's worker before this one, plus 1.
  maxFramePixels @6 :UInt64;
  # Larger pictures fail with resourceExhausted before memory is taken.
  mediaBytes @7 :Int64;
  # Size of the media descriptor's file, which a worker may not ask for.
  knownWidth @8 :UInt32;
  knownHeight @9 :UInt32;
  # Of the upright pictures, as an earlier worker of this session found them by
  # decoding the first one; this worker need not. 0: not known, else the type
  # of the elements is not left open either.
  output @10 :Output;
  kind @11 :StreamKind;
  # What streamIndex means. Of audio, -1 is the first audio stream.
  sampleRate @12 :UInt32;
  channelCount @13 :UInt32;
  # Of the samples of audio that will be published. 0: as in the stream.
  ignoreErrors @14 :Bool;
  # The decoder goes on behind errors that can be ignored. Of video.
  maxStreams @15 :UInt32;
  maxPacketBytes @16 :UInt64;
  # A file with more, and a packet of the stream with more, fail with
  # resourceExhausted.
}

struct Output {
  # What frames are to be. Upright RGB pictures are transformed in order.
  element :union {
    type @0 :ElementType;
    byDepth @1 :Void;
    # Floats for a stream whose components have more than 8 bits.
  }
  transforms @2 :List(Transform);
}

enum ElementType {
  # What one of the three numbers of a pixel is.
  uint8 @0;
  float32 @1;
  # From 0 to 1: one of 16 bits, divided by 65535.
}

struct Transform {
  width @0 :UInt32;
  height @1 :UInt32;
  # Of the result.
  union {
    resize @2 :Filter;
    crop :group {
      left @3 :UInt32;
      top @4 :UInt32;
    }
    centerCrop @5 :Void;
    drawnCrop :group {
      # The host has drawn the place: fractions of 2^32 of the places that there
      # are, so that each worker of a session cuts the same.
      across @6 :UInt32;
      down @7 :UInt32;
    }
  }

  enum Filter {
    bilinear @0;
    nearest @1;
    bicubic @2;
    area @3;
    lanczos @4;
  }
}

enum StreamKind {
  video @0;
  audio @1;
}

struct Describe {
  nameHint @0 :Text;
  mediaBytes @1 :Int64;
  # Both as in Open.
  scan @2 :Bool;
  # Also read every packet, for the content values.
  maxStreams @3 :UInt32;
  # A file with more fails with resourceExhausted.
}

struct Play {
  epoch @0 :UInt32;
  # Echoed in each answer, so that what was decoded ahead for an older play is
  # recognised.
  start :union {
    onward @1 :Void;
    # From the frame after the last one that was published.
    beginning @2 :Void;
    keyframe @3 :Int64;
    # Timestamp (stream time base) to seek to, backwards to a keyframe.
    sample @6 :Int64;
    # Of audio, and the only way to start that: the number of the first sample
    # to be published. The first of the stream is 0.
  }
  skipBefore @4 :Int64 = -9223372036854775808;
  # Frames with a timestamp below this are decoded but neither converted nor
  # published; the minimum skips none.
  maxFrames @5 :UInt64 = 18446744073709551615;
  # Then the worker stops with paused, ready to go onward. Of audio: samples of
  # each channel.
}

struct Grant {
  slot @0 :UInt32;
  generation @1 :UInt32;
}

struct Reply {
  union {
    opened @0 :Opened;
    failed @1 :Failed;
    indexChunk @2 :IndexChunk;
    indexEnd @3 :Void;
    frame @4 :PublishedFrame;
    paused @5 :UInt32;
    # Epoch: maxFrames of that play have been published.
    endOfStream @6 :UInt32;
    # Epoch: the stream holds no further frame.
    poolAttached @7 :Void;
    # Answers attachPool.
    openedAudio @8 :OpenedAudio;
    # Answers open where its kind is audio.
    samples @9 :PublishedSamples;
    # In place of frame, of a stream of audio.
    skipping @10 :Skipping;
    # Of a play of audio that is still before its first sample, whenever another
    # second of the stream was decoded.
    described @11 :Described;
    # Answers describe, with others of its kind.
    read @12 :Read;
    # In a servedSession, at any time: the host fills the window with what
    # begins there, as much as fits, and says so in the window. It does so while
    # it waits for an answer, so the worker may wait long.
    entered @13 :Entered;
    # First answer to a play that begins anew: where it begins.
    unseen @14 :Unseen;
    # What a play came across and does not publish, in its place between the
    # frames.
  }
}

struct Entered {
  epoch @0 :UInt32;
  union {
    beginning @1 :Void;
    keyframe @2 :Int64;
    # Timestamp of the packet that is decoded first.
  }
}

struct Unseen {
  epoch @0 :UInt32;
  frames @1 :List(UnseenFrame);
}

struct UnseenFrame {
  fate @0 :Fate;
  pts @1 :Int64;
  # Stream time base; minimum Int64: not known.
  duration @2 :Int64;
  position @3 :Int64 = -1;
  # Byte of the packet in the file; -1: not known.
  count @4 :UInt64 = 1;
  # More than one only of lost frames without a timestamp.

  enum Fate {
    sound @0;
    # Before skipBefore.
    damaged @1;
    # The same, with parts that are made up.
    lost @2;
    # Its packet yielded no picture.
  }
}

struct Failed {
  epoch @0 :UInt32;
  # Of the play that failed; 0 for other requests.
  failure @1 :Types.Failure;
}

struct Opened {
  streamIndex @0 :Int32;
  streamCount @1 :UInt32;
  codec @2 :Text;
  pixelFormat @3 :Text;
  # Of the decoder's output as far as the container tells; may be empty.
  container @4 :Text;
  width @5 :UInt32;
  height @6 :UInt32;
  # Of the frames that will be published: after rotation and transforms.
  rotation @7 :Int32;
  # Degrees counter-clockwise that were applied: 0, 90, 180 or 270.
  timeBase @8 :Types.Rational;
  averageFrameRate @9 :Types.Rational;
  sampleAspectRatio @10 :Types.Rational;
  frameCountFromHeader @11 :UInt64;
  # 0: not told.
  durationFromHeader @12 :Int64;
  # Stream time base; minimum Int64: not told.
  startFromHeader @13 :Int64;
  bitRate @14 :Int64;
  colorPrimaries @15 :UInt8;
  colorTransfer @16 :UInt8;
  colorSpace @17 :UInt8;
  # Code points of ITU-T H.273; 2 is unspecified.
  colorRange @18 :UInt8;
  # 0 unspecified, 1 limited, 2 full.
  elementType @19 :ElementType;
  uprightWidth @20 :UInt32;
  uprightHeight @21 :UInt32;
  # After rotation, before transforms.
  containerDuration @22 :Int64 = -9223372036854775808;
  # Microseconds; minimum Int64: not told.
  baseFrameRate @23 :Types.Rational;
  # As in StreamDescription.
}

struct Described {
  union {
    scanned @0 :UInt64;
    # So many packets were read: a sign of life.
    container @1 :ContainerDescription;
    stream @2 :StreamDescription;
  }
}

struct Read {
  offset @0 :UInt64;
  # Within the media.
  serial @1 :UInt32;
  # One more than that of the read before; the first is 1.
}

struct ContainerDescription {
  format @0 :Text;
  streamCount @1 :UInt32;
  duration @2 :Int64 = -9223372036854775808;
  start @3 :Int64 = -9223372036854775808;
  # Microseconds; minimum Int64: not told.
  bitRate @4 :Int64;
  # 0: not told.
  bestVideoStream @5 :Int32 = -1;
  bestAudioStream @6 :Int32 = -1;
  # As FFmpeg chooses; -1: there is none.
  title @7 :Text;
}

struct StreamDescription {
  # Texts that do not apply are empty, numbers 0.
  enum Kind {
    unknown @0;
    video @1;
    audio @2;
    subtitle @3;
    data @4;
    attachment @5;
  }
  index @0 :UInt32;
  kind @1 :Kind;
  codec @2 :Text;
  profile @3 :Text;
  language @4 :Text;
  title @5 :Text;
  isDefault @6 :Bool;
  isCover @7 :Bool;
  # A picture that goes with the file, not a video.
  timeBase @8 :Types.Rational;
  start @9 :Int64 = -9223372036854775808;
  duration @10 :Int64 = -9223372036854775808;
  # In the time base; minimum Int64: not told.
  frameCount @11 :UInt64;
  # By the header; 0: not told.
  bitRate @12 :Int64;

  width @13 :UInt32;
  height @14 :UInt32;
  rotation @15 :Int32;
  # As in Opened: after rotation.
  sampleAspectRatio @16 :Types.Rational;
  averageFrameRate @17 :Types.Rational;
  baseFrameRate @18 :Types.Rational;
  # The lowest by which every timestamp can be told: a guess.
  pixelFormat @19 :Text;
  colorPrimaries @20 :UInt8;
  colorTransfer @21 :UInt8;
  colorSpace @22 :UInt8;
  colorRange @23 :UInt8;
  # As in Opened.

  sampleFormat @24 :Text;
  sampleRate @25 :UInt32;
  channels @26 :UInt32;
  channelLayout @27 :Text;

  content :group {
    scanned @28 :Bool;
    # Else the others mean nothing.
    packetCount @29 :UInt64;
    # That are shown.
    begin @30 :Int64 = -9223372036854775808;
    end @31 :Int64 = -9223372036854775808;
    # First timestamp, and the latest end of a packet; minimum: none has one.
  }
}

struct IndexChunk {
  entries @0 :Data;
  # Packed ipc::IndexEntry records (ipc/index_entry.h), demuxing order.
}

struct PublishedFrame {
  epoch @0 :UInt32;
  slot @1 :UInt32;
  generation @2 :UInt32;
  width @3 :UInt32;
  height @4 :UInt32;
  stride @5 :UInt32;
  # Bytes from row to row, at least those of `width` pixels.
  pts @6 :Int64;
  # Stream time base; minimum Int64: the stream has none.
  duration @7 :Int64;
  keyframe @8 :Bool;
  fingerprint @9 :UInt64;
  # XXH3-64 of every 16th row, with which the host recognises on replay that
  # the new worker went on exactly where the old one stopped.
  damaged @10 :Bool;
  # Parts of the picture are made up.
  position @11 :Int64 = -1;
  # Byte of its packet in the file; -1: not known.
}

struct OpenedAudio {
  streamIndex @0 :Int32;
  streamCount @1 :UInt32;
  codec @2 :Text;
  container @3 :Text;
  sampleFormat @4 :Text;
  # Of the decoder's output.
  sampleRate @5 :UInt32;
  channelCount @6 :UInt32;
  channelLayout @7 :Text;
  # As FFmpeg writes it: "stereo", "5.1(side)".
  publishedRate @8 :UInt32;
  publishedChannels @9 :UInt32;
  timeBase @10 :Types.Rational;
  firstPts @11 :Int64;
  # Of sample 0, stream time base; minimum Int64: not told.
  durationFromHeader @12 :Int64;
  # Stream time base; minimum Int64: not told.
  startFromHeader @13 :Int64;
  bitRate @14 :Int64;
  containerDuration @15 :Int64 = -9223372036854775808;
  # Microseconds; minimum Int64: not told.
}

struct PublishedSamples {
  # Consecutive samples as 32-bit floats, all of the first channel, then all of
  # the second, from the start of the slot on.
  epoch @0 :UInt32;
  slot @1 :UInt32;
  generation @2 :UInt32;
  first @3 :Int64;
  # Its number: that of the play's start, or where the samples before ended.
  count @4 :UInt32;
  # Of each channel, at least 1.
}

struct Skipping {
  epoch @0 :UInt32;
  reached @1 :Int64;
  # The sample that comes next, at most the one that is looked for.
}
