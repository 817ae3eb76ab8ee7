// SPDX-License-Identifier: Apache-2.0
// Containers with pictures and sound.
#include "tests/media/unusual_clips.h"

namespace bulkhead::tests {
namespace {

constexpr UnusualClip kClips[] = {
    {"both.mp4", "%v %a -c:v libx264 -g 10 -bf 2 -c:a aac"},
    {"both.mkv", "@both.mp4 -c copy"},
    {"both.mov", "@both.mp4 -c copy"},
    {"both.nut", "@both.mp4 -c copy"},
    {"both.ts", "@both.mp4 -c copy"},
    {"both.flv", "@both.mp4 -c copy"},
    {"both.f4v", "@both.mp4 -c copy"},
    {"both.3gp", "@both.mp4 -c copy"},
    {"both.ismv", "@both.mp4 -c copy"},
    {"both_fragments.mp4",
     "@both.mp4 -c copy -movflags frag_keyframe+empty_moov+separate_moof"},
    {"both_cut.mp4", "-ss 0.5 @both.mp4 -c copy"},
    {"both_cut.mkv", "-ss 0.5 @both.mp4 -c copy"},
    {"both_cut.ts", "-ss 0.5 @both.ts -c copy"},
    {"both_joined.ts", "cat @both.ts @both.ts"},
    {"both_short_packets.ts", "@both.ts -c copy -pes_payload_size 200"},
    {"both.avi", "%v %a -c:v mpeg4 -bf 2 -c:a libmp3lame"},
    {"both.wmv", "%v %a -c:v wmv2 -c:a wmav2"},
    {"both_packets.asf", "%v %a -c:v msmpeg4 -c:a wmav1 -packet_size 1000"},
    {"both.mpg", "%v %a -c:v mpeg2video -bf 2 -c:a mp2"},
    {"both.vob", "%v %a -c:v mpeg2video -bf 2 -ar 48000 -c:a ac3"},
    {"both.webm",
     "%v %a -c:v libvpx -deadline realtime -cpu-used 8 -c:a libvorbis"},
    {"both_live.webm", "@both.webm -c copy -live 1"},
    {"both.ogv", "%v %a -c:v libtheora -c:a libvorbis"},
    {"both_flac.ogv", "%v %a -c:v libtheora -c:a flac"},
    {"both_opus.mkv", "%v %a -c:v ffv1 -ar 48000 -c:a libopus"},
    {"both.rm", "%c %a -c:v rv20 -c:a ac3"},
    {"both.mxf", "%v %a -c:v mpeg2video -g 12 -bf 2 -ar 48000 -c:a pcm_s16le"},
    {"both.swf", "%v %a -c:v flv -c:a libmp3lame"},
    {"both.wtv", "%v %a -c:v mpeg2video -c:a mp2"},
    {"both.dv",
     "%v %a -s 720x576 -frames:v 10 -c:v dvvideo -ar 48000 -c:a pcm_s16le"},
    {"still.png", "%v -frames:v 1 -c:v png"},
    {"cover.mp3",
     "%a @still.png -map 0 -map 1 -c:v copy -disposition:v attached_pic -c:a "
     "libmp3lame"},
    {"cover.m4a",
     "%a @still.png -map 0 -map 1 -c:v mjpeg -pix_fmt yuvj420p -disposition:v "
     "attached_pic -c:a aac"},
};

}  // namespace

std::span<const UnusualClip> UnusualContainerClips() { return kClips; }

}  // namespace bulkhead::tests
