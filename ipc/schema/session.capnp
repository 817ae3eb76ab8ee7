# SPDX-License-Identifier: Apache-2.0
# The protocol of one session, between the host (the application's libbulkhead,
# trusted) and a session worker (hostile after its first byte of media). A
# comment stands below the declaration that it describes.
#
# Hello, Attach and Types.CrashNote each travel as one packet over the session's
# SOCK_SEQPACKET socket; Attach carries descriptors. Request and Reply travel in
# the shared-memory rings (../FORMAT.md), one single-segment message per record.
#
# The worker answers requests in order. Between two requests it decodes ahead
# into the slots that it was granted, as far as the last `play` allows.
#
# The host is trusted, so the worker checks only the fields on which its memory
# safety depends. The host validates every field of every message from the
# worker. A message that breaks a rule of this file ends the worker with
# kBackendMisbehaved.
#
# Units, unless a field says otherwise: timestamps and durations are in the
# stream time base, sizes are in bytes or pixels, and the minimum Int64 stands
# for a timestamp or duration that is not known.
@0xa970d0790cd59c77;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");
using Types = import "types.capnp";

struct Hello {
  # Worker to host, once, after the worker has completed its lock-down.
  protocolVersion @0 :UInt32;
  # The host refuses any version but its own (../protocol_version.h).
  seccompMode @1 :UInt32;
  # The worker's own claim, for diagnostics only. bulkheadd inspects the process
  # itself before it sends the worker any media.
  exhausted @2 :Text;
  # The resource that ran out, if a shared worker cannot serve this session;
  # otherwise empty. The worker then closes the socket and continues to serve
  # its other sessions.
}

struct Attach {
  # Host to worker.
  union {
    session @0 :Void;
    # Starts the session. Descriptors, in this order: the request region
    # (read-only memfd), the reply region (memfd), the request region again, the
    # media and, if the host is bulkheadd, the eventfd that wakes it.
    framePool @1 :FramePool;
    # Gives the worker its frame pool. Descriptor: the pool's memfd. Sent after
    # `opened`; a later pool replaces an earlier one.
    servedSession @2 :Void;
    # Starts a session whose media only the host can read. The descriptors are
    # the same as for `session`, but the third and the fourth are a media window
    # (../media_window_layout.h): see Reply.read.
  }
}

struct FramePool {
  slotCount @0 :UInt32;
  slotBytes @1 :UInt64;
  # Slot i is the range [i * slotBytes, (i + 1) * slotBytes) of the memfd.
}

struct Request {
  # Host to worker.
  union {
    open @0 :Open;
    # Opens the media and a decoder. The first request, unless `describe` comes
    # before it. Answered by opened, openedAudio or failed.
    scan @1 :Void;
    # Reads every packet of the stream without decoding, for the index. Answered
    # by any number of indexChunk and one indexEnd, or by failed. Moves the
    # position in the media, so the next play must not start `onward`.
    play @2 :Play;
    # Decodes and publishes. Answered by up to maxFrames frame replies and then
    # one paused, endOfStream or failed, all with the epoch of the play. A later
    # play cancels this one at the next frame.
    grant @3 :Grant;
    # Lets the worker write one slot. Not answered: the slot belongs to the
    # worker until the worker publishes it in a frame.
    attachPool @4 :Void;
    # Makes the worker receive the Attach with `framePool`, which the host has
    # sent on the socket. Answered by poolAttached or failed.
    describe @5 :Describe;
    # Asks for the container's metadata about streams of every kind, without a
    # decoder. Sent instead of open or in addition to it. Answered by any number
    # of described.scanned, then one described.container, then one
    # described.stream for each stream in the order of the container; or by
    # failed.
  }
}

struct Open {
  nameHint @0 :Text;
  # The base name of the source. Its extension helps to select a demuxer where
  # the bytes of the media are ambiguous. The worker opens no file of this name.
  device @1 :UInt32;
  # The ordinal of the device within the backend.
  streamIndex @2 :Int32;
  # The absolute index of the stream in the container. -1 selects the first
  # stream of `kind`; for video, a stream that is a cover picture only if there
  # is no other.
  threads @3 :UInt32;
  # The number of decoder threads; 0 leaves the choice to the decoder.
  options @4 :List(Types.KeyValue);
  # Options of the backend.
  incarnation @5 :UInt32;
  # 1 for the first worker of this session, one more for each later worker.
  maxFramePixels @6 :UInt64;
  # The worker fails with resourceExhausted for larger pictures, before it takes
  # memory for them.
  mediaBytes @7 :Int64;
  # The size of the media. The worker's seccomp filter does not let the worker
  # ask for the size of the descriptor's file.
  knownWidth @8 :UInt32;
  knownHeight @9 :UInt32;
  # The size of the upright pictures, which an earlier worker of this session
  # found by decoding the first picture, so that this worker need not decode the
  # picture again. 0 if not known. If the size is known, output.element is a
  # `type`.
  output @10 :Output;
  # The form of the frames. Video only.
  kind @11 :StreamKind;
  # The kind of the stream to open.
  sampleRate @12 :UInt32;
  channelCount @13 :UInt32;
  # The sample rate in hertz and the number of channels of the samples to
  # publish; 0 for the stream's. Audio only.
  ignoreErrors @14 :Bool;
  # True if the decoder continues after errors that can be ignored. Video only.
  maxStreams @15 :UInt32;
  maxPacketBytes @16 :UInt64;
  # The worker fails with resourceExhausted for media with more streams, and for
  # a larger packet of the stream.
  patienceMs @17 :UInt32;
  # The worker fails with backendMisbehaved if the backend only asks to be
  # called again for longer than this time, without taking a packet or giving a
  # frame.
  allowed @18 :AllowedMedia;
  # The worker fails with unsupported for a container or a stream that is not
  # allowed.
  bestStream @19 :Bool;
  # With a streamIndex of -1, selects the stream of `kind` that FFmpeg's
  # av_find_best_stream selects, in place of the first.
}

struct Output {
  # The form of the published frames. The transforms are applied to the upright
  # RGB pictures, in order.
  element :union {
    type @0 :ElementType;
    byDepth @1 :Void;
    # float32 for a stream with more than 8 bits per component, otherwise uint8.
    native @3 :Native;
    # The planes that the decoder makes, in place of RGB. There are no
    # transforms, and pictures are not turned upright.
  }
  transforms @2 :List(Transform);
  autoscale @4 :Bool = true;
  # True if every frame has the size of the first, which Opened announces. If
  # false, each frame has its own size and, with `native`, its own pixel format,
  # and there are no transforms.
}

struct Native {
  pixelFormat @0 :Text;
  # The format of the first picture, which an earlier worker of this session
  # found by decoding it; empty if not known.
}

enum ElementType {
  # The type of one of the three elements of a pixel.
  uint8 @0;
  float32 @1;
  # From 0 to 1: a 16-bit component divided by 65535.
}

struct Transform {
  width @0 :UInt32;
  height @1 :UInt32;
  # The size of the result, in pixels.
  union {
    resize @2 :Filter;
    crop :group {
      left @3 :UInt32;
      top @4 :UInt32;
    }
    centerCrop @5 :Void;
    drawnCrop :group {
      # A crop at a random place. The host has drawn the place, so that every
      # worker of a session crops the same part. Each value is a fraction, in
      # units of 2^-32, of the number of possible places in that direction.
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
  # The name hint and the size of the media, as in Open.
  scan @2 :Bool;
  # True if the worker also reads every packet, for StreamDescription.content.
  maxStreams @3 :UInt32;
  # The worker fails with resourceExhausted for media with more streams.
  allowed @4 :AllowedMedia;
  # As in Open. Streams that are not allowed are described, too, from the
  # container's metadata alone.
}

struct AllowedMedia {
  # The containers and codecs that the worker may parse and decode. A list
  # counts only if its flag is set; otherwise everything is allowed.
  containersAreListed @0 :Bool;
  containers @1 :List(Text);
  # Names of demuxers of libavformat, each without a comma.
  codecsAreListed @2 :Bool;
  codecs @3 :List(Text);
  # Names of codecs of libavcodec.
}

struct Play {
  epoch @0 :UInt32;
  # The number of this play. Each answer carries the epoch, so that the host
  # recognises frames that were decoded ahead for an older play.
  start :union {
    onward @1 :Void;
    # Continues with the frame after the last published one.
    beginning @2 :Void;
    # Starts at the first frame of the stream.
    keyframe @3 :Int64;
    # Seeks backwards from this timestamp to a keyframe.
    sample @6 :Int64;
    # Starts with this sample, where the first sample of the stream has number
    # 0. Audio only, and the only start for audio.
    packet :group {
      # Starts at the packet that an entry of the index describes
      # (../index_entry.h). Starts at the beginning instead if a seek does not
      # arrive at exactly that packet.
      timestamp @8 :Int64;
      position @9 :Int64;
      check @10 :UInt32;
    }
  }
  skipBefore @4 :Int64 = -9223372036854775808;
  # Frames with a lower timestamp are decoded but neither converted nor
  # published. The minimum Int64 skips none.
  maxFrames @5 :UInt64 = 18446744073709551615;
  # After this many frames, the worker answers paused and is ready to continue
  # onward. For audio: the number of samples of each channel.
  overlap @7 :Bool;
  # True if the worker may decode the next frame while it converts one, from the
  # second frame of the play on. Video only.
}

struct Grant {
  slot @0 :UInt32;
  generation @1 :UInt32;
  # The number of this grant among all grants of the slot. The worker repeats it
  # when it publishes the slot.
}

struct Reply {
  # Worker to host.
  union {
    opened @0 :Opened;
    # Answers open for video.
    failed @1 :Failed;
    indexChunk @2 :IndexChunk;
    indexEnd @3 :Void;
    # Ends the answer to scan.
    frame @4 :PublishedFrame;
    paused @5 :UInt32;
    # The epoch of a play whose maxFrames have been published.
    endOfStream @6 :UInt32;
    # The epoch of a play that has reached the end of the stream.
    poolAttached @7 :Void;
    # Answers attachPool.
    openedAudio @8 :OpenedAudio;
    # Answers open for audio.
    samples @9 :PublishedSamples;
    # Sent instead of frame for audio.
    skipping @10 :Skipping;
    # Reports progress of a play of audio before its first sample: sent for each
    # second of the stream that was decoded. The host then extends the deadline.
    described @11 :Described;
    # One part of the answer to describe.
    read @12 :Read;
    # Only in a servedSession, at any time. Asks the host to fill the media
    # window with as many bytes from `offset` on as fit. The host does so only
    # while it waits for an answer of the worker, so the worker may wait long.
    entered @13 :Entered;
    # The position at which the decoding of a play begins. The first answer to a
    # play that does not start `onward`. Video only.
    unseen @14 :Unseen;
    # Frames that a play passed without publishing them, sent in order among the
    # published frames. Video only.
    lostSamples @15 :LostSamples;
    # Damage that a play has met, sent before the samples at that place are
    # published. Audio only.
    needsSlot @16 :NeedsSlot;
    # A picture waits for a slot, since the decoder still refers to all granted
    # slots. The host grants another slot. Only with Output.native.
    needsPool @17 :NeedsPool;
    # A picture is larger than the slots. The host attaches a pool whose slots
    # have room for the picture, or starts another play; the worker sends
    # nothing until then. Only without Output.autoscale, and at most once for
    # each published frame.
  }
}

struct NeedsPool {
  epoch @0 :UInt32;
  width @1 :UInt32;
  height @2 :UInt32;
  pixelFormat @3 :Text;
  # The shape of the picture, as in PublishedFrame. The host refuses a picture
  # that fits the slots of the present pool.
}

struct NeedsSlot {
  epoch @0 :UInt32;
  grants @1 :UInt32;
  # The number of grants that the worker has taken since it started. If the host
  # has sent more grants, another slot is on its way already.
}

struct Entered {
  epoch @0 :UInt32;
  union {
    beginning @1 :Void;
    keyframe @2 :Int64;
    # The timestamp of the packet that is decoded first. The host refuses this
    # answer to a play from the beginning, and the timestamp of another packet
    # than it asked for.
  }
}

struct Unseen {
  epoch @0 :UInt32;
  frames @1 :List(UnseenFrame);
  words @2 :Text;
  # The backend's message about the lost frames (last_error), or libavformat's
  # where it stopped (`stopped`, notInIndex); may be empty. The host uses the
  # first 480 bytes.
}

struct UnseenFrame {
  fate @0 :Fate;
  pts @1 :Int64;
  duration @2 :Int64;
  position @3 :Int64 = -1;
  # The offset of the packet in the file; -1 if not known.
  count @4 :UInt64 = 1;
  # The number of frames that this entry stands for. More than one only for lost
  # frames without a timestamp, and for notInIndex.
  endPosition @5 :Int64 = -1;
  # For notInIndex: the offset in the file after the lost bytes, which begin at
  # `position`; -1 if not known.
  declaredSize @6 :Int64 = -1;
  # For notInIndex at the end of a file that is cut off: the size that the file
  # should have according to its headers, more than Open.mediaBytes. -1
  # otherwise.

  enum Fate {
    sound @0;
    # Decoded correctly, with a timestamp below skipBefore.
    damaged @1;
    # Decoded with parts that the decoder made up, with a timestamp below
    # skipBefore.
    lost @2;
    # The packet yielded no picture.
    notInIndex @3;
    # The packets are missing in the file, so the index does not have the
    # frames. `pts` and `duration` say when they would be shown, and `count` is
    # an estimate, at most mostFramesOfGap.
    note @4;
    # Stands for no frame: something was odd at the packet with `pts` and
    # `position`, whose picture is delivered as sound. The host ignores `count`,
    # and accepts at most as many notes in a step as there may be frames.
  }
  sign @7 :Sign;
  # The evidence for the damage, or the subject of the note. The host refuses
  # the sign of a note for damage, and the sign of damage for a note.
}

enum Sign {
  # ../damage_sign.h says what the signs mean, and which of them are notes. It has
  # the same order.
  unknown @0;
  rejected @1;
  flagged @2;
  refersToDamaged @3;
  noPicture @4;
  stopped @5;
  cutOff @6;
  shrunk @7;
  promised @8;
  marked @9;
  endsInPacket @10;
  gap @11;
}

const mostFramesOfGap :UInt64 = 1000000;

struct Failed {
  epoch @0 :UInt32;
  # The epoch of the play that failed; 0 for another request.
  failure @1 :Types.Failure;
}

struct Opened {
  streamIndex @0 :Int32;
  # The absolute index of the stream that was opened.
  streamCount @1 :UInt32;
  # The number of streams in the container, at most Open.maxStreams.
  codec @2 :Text;
  pixelFormat @3 :Text;
  # The pixel format of the decoder's output, as far as the container says; may
  # be empty. With Output.native, the format of the frames to be published, by
  # its name in ../pixel_layout.h. ../frame_geometry.h computes the place of
  # each plane from the format and the size.
  container @4 :Text;
  width @5 :UInt32;
  height @6 :UInt32;
  # The size of the frames to be published: after rotation and transforms.
  rotation @7 :Int32;
  # The rotation that was applied, in degrees counter-clockwise: 0, 90, 180 or
  # 270.
  timeBase @8 :Types.Rational;
  # In seconds.
  averageFrameRate @9 :Types.Rational;
  # In frames per second.
  sampleAspectRatio @10 :Types.Rational;
  frameCountFromHeader @11 :UInt64;
  # 0 if the header does not say.
  durationFromHeader @12 :Int64;
  startFromHeader @13 :Int64;
  bitRate @14 :Int64;
  # In bits per second; 0 if unknown.
  colorPrimaries @15 :UInt8;
  colorTransfer @16 :UInt8;
  colorSpace @17 :UInt8;
  # Code points of ITU-T H.273; 2 means unspecified.
  colorRange @18 :UInt8;
  # 0 unspecified, 1 limited, 2 full.
  elementType @19 :ElementType;
  # The element type of the frames to be published; uint8 with Output.native.
  uprightWidth @20 :UInt32;
  uprightHeight @21 :UInt32;
  # The size of the pictures after rotation and before transforms.
  containerDuration @22 :Int64 = -9223372036854775808;
  # In microseconds.
  baseFrameRate @23 :Types.Rational;
  # As in StreamDescription.
  chromaLocation @24 :UInt8;
  # 0 unspecified, 1 left, 2 center, 3 top left, 4 top, 5 bottom left, 6 bottom.
  verticalFlip @25 :Bool;
  # True if the pictures were flipped vertically before the rotation.
  threads @26 :UInt32;
  # The number of threads that the decoder was asked to use: Open.threads, or 1
  # where its pictures would depend on the number.
}

const packetsPerReport :UInt64 = 1000;
# The number of packets after which a scan for `describe` reports its progress.

struct Described {
  union {
    scanned @0 :UInt64;
    # The number of packets that were read so far, sent after every
    # packetsPerReport packets. The host then extends the deadline, and refuses
    # any other number.
    container @1 :ContainerDescription;
    stream @2 :StreamDescription;
  }
}

struct Read {
  offset @0 :UInt64;
  # The host refuses an offset beyond the end of the media.
  serial @1 :UInt32;
  # 1 for the first read, one more for each later one. The host refuses any
  # other serial.
}

struct ContainerDescription {
  format @0 :Text;
  streamCount @1 :UInt32;
  duration @2 :Int64 = -9223372036854775808;
  start @3 :Int64 = -9223372036854775808;
  # Both in microseconds.
  bitRate @4 :Int64;
  # In bits per second; 0 if unknown.
  bestVideoStream @5 :Int32 = -1;
  bestAudioStream @6 :Int32 = -1;
  # The absolute index of the stream that FFmpeg would choose; -1 if there is
  # none.
  title @7 :Text;
}

struct StreamDescription {
  # Texts that do not apply to a stream are empty, numbers that do not apply are
  # 0.
  enum Kind {
    unknown @0;
    video @1;
    audio @2;
    subtitle @3;
    data @4;
    attachment @5;
  }
  index @0 :UInt32;
  # The absolute index of the stream in the container.
  kind @1 :Kind;
  codec @2 :Text;
  profile @3 :Text;
  language @4 :Text;
  title @5 :Text;
  isDefault @6 :Bool;
  isCover @7 :Bool;
  # True if the stream is a still picture, such as an album cover, and not a
  # video.
  timeBase @8 :Types.Rational;
  # In seconds.
  start @9 :Int64 = -9223372036854775808;
  duration @10 :Int64 = -9223372036854775808;
  frameCount @11 :UInt64;
  # The number of frames according to the header; 0 if the header does not say.
  bitRate @12 :Int64;
  # In bits per second.

  width @13 :UInt32;
  height @14 :UInt32;
  rotation @15 :Int32;
  verticalFlip @32 :Bool;
  # Rotation and flip are as in Opened; the size is the size after rotation.
  sampleAspectRatio @16 :Types.Rational;
  averageFrameRate @17 :Types.Rational;
  baseFrameRate @18 :Types.Rational;
  # The lowest frame rate that can represent every timestamp. FFmpeg guesses it.
  pixelFormat @19 :Text;
  colorPrimaries @20 :UInt8;
  colorTransfer @21 :UInt8;
  colorSpace @22 :UInt8;
  colorRange @23 :UInt8;
  # As in Opened.

  sampleFormat @24 :Text;
  sampleRate @25 :UInt32;
  # In hertz.
  channels @26 :UInt32;
  channelLayout @27 :Text;

  content :group {
    # The results of a scan of all packets.
    scanned @28 :Bool;
    # True if there was a scan. Otherwise the other fields mean nothing.
    packetCount @29 :UInt64;
    # The number of packets that are shown.
    begin @30 :Int64 = -9223372036854775808;
    end @31 :Int64 = -9223372036854775808;
    # The first timestamp and the latest end of a packet; the minimum Int64 if
    # no packet has a timestamp.
  }
}

struct IndexChunk {
  entries @0 :Data;
  # Packed ipc::IndexEntry records (../index_entry.h) in demuxing order.
}

struct PublishedFrame {
  epoch @0 :UInt32;
  # The epoch of the play. The host drops a frame of an older play.
  slot @1 :UInt32;
  generation @2 :UInt32;
  # The host accepts only a slot that is granted with this generation.
  width @3 :UInt32;
  height @4 :UInt32;
  # The host accepts only the size that Opened announced or, without
  # Output.autoscale, any size up to Open.maxFramePixels.
  stride @5 :UInt32;
  # The number of bytes from one row to the next: at least the bytes of `width`
  # pixels. The host checks that all rows lie within the slot. With
  # Output.native, the host accepts only the stride of the first plane that
  # ../frame_geometry.h computes.
  pts @6 :Int64;
  duration @7 :Int64;
  keyframe @8 :Bool;
  fingerprint @9 :UInt64;
  # The XXH3-64 hash of every 16th row of each plane. After a replay, it shows
  # the host whether the new worker continues exactly where the old one stopped.
  damaged @10 :Bool;
  # True if the decoder made up parts of the picture.
  position @11 :Int64 = -1;
  # The offset of the packet in the file; -1 if not known.
  facts @12 :PictureFacts;
  # The colours and fields of this picture. Only with Output.native.
  pixelFormat @13 :Text;
  # The format of this picture, as in Opened. Set only with Output.native and
  # without Output.autoscale.
  sign @14 :Sign;
  # The evidence for the damage; only if `damaged`. The host refuses the sign of
  # a note.
  check @15 :UInt32;
  # The hash of the packet if it is a point of access, as in the index
  # (../index_entry.h); otherwise 0.
}

struct PictureFacts {
  primaries @0 :UInt8 = 2;
  transfer @1 :UInt8 = 2;
  space @2 :UInt8 = 2;
  range @3 :UInt8;
  chromaLocation @4 :UInt8;
  # As the colours in Opened.
  interlaced @5 :Bool;
  topFieldFirst @6 :Bool;
  # interlaced: the rows belong to two fields in turn. topFieldFirst: the field
  # with the top row is shown first.
}

struct OpenedAudio {
  streamIndex @0 :Int32;
  streamCount @1 :UInt32;
  # Both as in Opened.
  codec @2 :Text;
  container @3 :Text;
  sampleFormat @4 :Text;
  # The sample format of the decoder's output.
  sampleRate @5 :UInt32;
  # In hertz.
  channelCount @6 :UInt32;
  channelLayout @7 :Text;
  # In FFmpeg's notation: "stereo", "5.1(side)".
  publishedRate @8 :UInt32;
  publishedChannels @9 :UInt32;
  # The rate in hertz and the number of channels of the samples to be published.
  timeBase @10 :Types.Rational;
  # In seconds.
  firstPts @11 :Int64;
  # The timestamp of sample 0.
  durationFromHeader @12 :Int64;
  startFromHeader @13 :Int64;
  bitRate @14 :Int64;
  # In bits per second; 0 if unknown.
  containerDuration @15 :Int64 = -9223372036854775808;
  # In microseconds.
}

struct PublishedSamples {
  # Consecutive samples as 32-bit floats, from the start of the slot: all
  # samples of the first channel, then all of the second, and so on.
  epoch @0 :UInt32;
  slot @1 :UInt32;
  generation @2 :UInt32;
  # All three as in PublishedFrame.
  first @3 :Int64;
  # The number of the first sample. The host accepts only the start of the play
  # or the end of the samples that were published before.
  count @4 :UInt32;
  # The number of samples of each channel, at least 1. The host checks that the
  # samples lie within the slot and within the play.
}

struct LostSamples {
  # Consecutive samples that cannot be decoded. They have numbers like other
  # samples, and are published as silence. A worker reports each damage once, in
  # order; the host refuses a run that begins before the end of the previous
  # one.
  epoch @0 :UInt32;
  first @1 :Int64;
  # The number of the first lost sample, counted in published samples.
  count @2 :Int64;
  # At least 1; 0 for a note.
  firstByte @3 :Int64 = -1;
  lastByte @4 :Int64 = -1;
  # The offsets in the file of the first and the last damaged packet; -1 if not
  # known.
  words @5 :Text;
  # As in Unseen.
  estimated @6 :Bool;
  # True if nothing in the file says the count exactly.
  declaredSize @7 :Int64 = -1;
  # For damage at the end of a file that is cut off: the size that the file
  # should have according to its headers, more than Open.mediaBytes. -1
  # otherwise.
  declaredSamples @8 :Int64 = -1;
  # The same for a file whose headers state no size: the number of samples that
  # the stream should have, more than `first`. -1 otherwise.
  sign @9 :Sign;
  # The evidence for the damage. With the sign of a note, no sample is lost:
  # `count` is 0, no silence is published, and the order of the runs does not
  # apply.
}

struct Skipping {
  epoch @0 :UInt32;
  reached @1 :Int64;
  # The number of the sample that is decoded next, at most the number of the
  # play's first sample. The host requires at least one second of progress since
  # the previous `skipping`.
}
