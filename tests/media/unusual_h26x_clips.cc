// SPDX-License-Identifier: Apache-2.0
// H.264 and HEVC.
#include "tests/media/unusual_clips.h"

namespace bulkhead::tests {
namespace {

constexpr UnusualClip kClips[] = {
    // Groups of pictures.
    {"h264.mp4", "%v -c:v libx264 -g 12"},
    {"h264_one_picture.mp4", "%v -frames:v 1 -c:v libx264"},
    {"h264_baseline.mp4", "%v -c:v libx264 -profile:v baseline"},
    {"h264_pyramid.mkv", "%v -c:v libx264 -g 12 -bf 3 -b-pyramid normal"},
    {"h264_strict_pyramid.mp4", "%v -c:v libx264 -bf 3 -b-pyramid strict"},
    {"h264_open.mp4",
     "%v -c:v libx264 -g 10 -bf 3 -x264-params open-gop=1:scenecut=0"},
    {"h264_refresh.mkv",
     "%v -c:v libx264 -bf 0 -g 10 -x264-params intra-refresh=1"},
    {"h264_many_references.mkv", "%v -c:v libx264 -refs 8 -bf 4"},
    {"h264_fade.mkv", "%v -vf fade=in:0:20 -c:v libx264 -bf 2"},
    // Slices, fields, formats.
    {"h264_slices.mp4", "%v -c:v libx264 -x264-params slices=4"},
    {"h264_short_slices.ts", "%v -c:v libx264 -x264-params slice-max-size=200"},
    {"h264_cavlc.flv", "%v -c:v libx264 -coder 0 -bf 2"},
    {"h264_top_first.ts",
     "%v -c:v libx264 -flags +ildct+ilme -x264-params tff=1"},
    {"h264_bottom_first.mkv",
     "%v -c:v libx264 -flags +ildct+ilme -x264-params bff=1"},
    {"h264_false_fields.mp4", "%v -c:v libx264 -x264-params fake-interlaced=1"},
    {"h264_444.mkv", "%v -c:v libx264 -pix_fmt yuv444p"},
    {"h264_10_bits.mp4", "%v -c:v libx264 -pix_fmt yuv420p10le"},
    {"h264_grey.mp4", "%v -c:v libx264 -pix_fmt gray"},
    {"h264_rgb.mkv", "%v -c:v libx264rgb -pix_fmt rgb24"},
    {"h264_lossless.mkv", "%v -c:v libx264 -qp 0"},
    // Units that show nothing.
    {"h264_hrd.ts",
     "%v -c:v libx264 -x264-params "
     "nal-hrd=vbr:vbv-maxrate=300:vbv-bufsize=300"},
    {"h264_filler.ts",
     "%v -c:v libx264 -b:v 400k -x264-params "
     "nal-hrd=cbr:vbv-maxrate=400:vbv-bufsize=200"},
    {"h264_delimited.ts", "%v -c:v libx264 -g 10 -x264-params aud=1"},
    {"h264_delimited.mp4", "@h264_delimited.ts -c copy"},
    {"h264_delimited.mkv", "@h264_delimited.ts -c copy"},
    {"h264_delimited.avi", "@h264_delimited.ts -c copy"},
    {"h264_delimited.m2ts", "@h264_delimited.ts -c copy"},
    {"h264_raw.264", "%v -c:v libx264 -bf 0 -g 10"},
    {"h264_raw_b.264", "%v -c:v libx264 -bf 3"},
    {"h264_ended.264", "cat @h264_raw.264 #0000010a @h264_raw.264 #0000010a"},
    {"h264_ended.mp4", "-fflags +genpts -r 25 @h264_ended.264 -c copy"},
    // Where the stream begins.
    {"h264_open_cut.mkv", "-ss 0.6 @h264_open.mp4 -c copy"},
    {"h264_open_cut.mp4", "-ss 0.6 @h264_open.mp4 -c copy"},
    {"h264_refresh_cut.mp4", "-ss 0.6 @h264_refresh.mkv -c copy"},
    {"h264_edit_list.mp4", "-ss 0.5 @h264_pyramid.mkv -c copy"},
    {"h264_no_edit_list.mp4",
     "-ss 0.5 @h264_pyramid.mkv -c copy -use_editlist 0"},
    // Timestamps.
    {"h264_late.mkv", "@h264_pyramid.mkv -c copy -output_ts_offset 100"},
    {"h264_negative.mkv",
     "@h264_pyramid.mkv -c copy -output_ts_offset -1 "
     "-avoid_negative_ts disabled"},
    {"h264_wraps.ts",
     "@h264_pyramid.mkv -c copy -output_ts_offset 95443 -muxdelay 0 "
     "-muxpreload 0"},
    {"h264_variable_rate.mp4",
     "%v -vf select=gt(mod(n\\,7)\\,2) -fps_mode vfr -c:v libx264"},
    {"h264_gap.mkv",
     "%v -vf select=lt(n\\,10)+gt(n\\,20) -fps_mode passthrough -c:v libx264"},
    {"h264_negative_offsets.mp4",
     "@h264_pyramid.mkv -c copy -movflags negative_cts_offsets"},
    // Containers.
    {"h264_header_first.mp4", "@h264_pyramid.mkv -c copy -movflags faststart"},
    {"h264_fragments.mp4",
     "@h264_pyramid.mkv -c copy -movflags "
     "frag_keyframe+empty_moov+default_base_moof"},
    {"h264_short_fragments.mp4",
     "@h264_pyramid.mkv -c copy -movflags frag_every_frame+empty_moov"},
    {"h264_cmaf.mp4", "@h264_pyramid.mkv -c copy -movflags cmaf+frag_keyframe"},
    {"h264_indexed_fragments.mp4",
     "@h264_pyramid.mkv -c copy -movflags frag_keyframe+dash+global_sidx"},
    {"h264_live.mkv", "@h264_pyramid.mkv -c copy -live 1"},
    {"h264_short_clusters.mkv",
     "@h264_pyramid.mkv -c copy -cluster_time_limit 100"},
    {"h264_cues_first.mkv", "@h264_pyramid.mkv -c copy -cues_to_front 1"},
    {"h264_pyramid.avi", "@h264_pyramid.mkv -c copy -bsf:v h264_mp4toannexb"},
    {"h264_coarse_ticks.mp4",
     "@h264_pyramid.mkv -c copy -video_track_timescale 7"},
    {"h264_pyramid.mov", "@h264_pyramid.mkv -c copy"},
    {"h264_pyramid.nut", "@h264_pyramid.mkv -c copy"},
    {"h264_pyramid.asf", "@h264_pyramid.mkv -c copy"},
    {"h264_constant_rate.ts", "@h264_delimited.ts -c copy -muxrate 2000000"},
    {"h264_repeated_tables.ts",
     "@h264_delimited.ts -c copy -mpegts_flags "
     "resend_headers+pat_pmt_at_frames"},
    {"h264_joined.ts", "cat @h264_delimited.ts @h264_delimited.ts"},
    {"h264_larger.ts", "%c -c:v libx264 -g 10 -x264-params aud=1"},
    {"h264_two_sizes.ts", "cat @h264_delimited.ts @h264_larger.ts"},

    // HEVC.
    {"hevc_open.mp4", "%c %h:keyint=10:min-keyint=10:bframes=3:open-gop=1"},
    {"hevc_open.ts", "@hevc_open.mp4 -c copy"},
    {"hevc_open.nut", "@hevc_open.mp4 -c copy"},
    {"hevc_open_cut.mkv", "-ss 0.6 @hevc_open.mp4 -c copy"},
    {"hevc_open_cut.mp4", "-ss 0.6 @hevc_open.mp4 -c copy"},
    {"hevc_open_cut.ts", "-ss 0.6 @hevc_open.mp4 -c copy"},
    {"hevc_tagged.mp4", "@hevc_open.mp4 -c copy -tag:v hvc1"},
    {"hevc_fragments.mp4",
     "@hevc_open.mp4 -c copy -movflags frag_keyframe+empty_moov"},
    {"hevc_closed.mkv", "%c %h:keyint=10:min-keyint=10:bframes=3:open-gop=0"},
    {"hevc_radl.mp4",
     "%c %h:keyint=10:min-keyint=10:bframes=3:open-gop=0:radl=2"},
    {"hevc_temporal_layers.mp4",
     "%c %h:keyint=15:bframes=3:b-pyramid=1:temporal-layers=1"},
    {"hevc_refresh.mkv", "%c %h:intra-refresh=1:keyint=10:bframes=0"},
    {"hevc_intra.mov", "%c %h:keyint=1"},
    {"hevc_10_bits.mp4", "%c -pix_fmt yuv420p10le %h:keyint=10"},
    {"hevc_444.mkv", "%c -pix_fmt yuv444p %h:keyint=10"},
    {"hevc_lossless.mkv", "%c %h:lossless=1:keyint=10"},
    {"hevc_hrd.ts",
     "%c %h:hrd=1:vbv-maxrate=300:vbv-bufsize=300:bitrate=200:keyint=10"},
    {"hevc_delimited.ts", "%c %h:aud=1:repeat-headers=1:keyint=10"},
    {"hevc_delimited.mkv", "@hevc_delimited.ts -c copy"},
    {"hevc_delimited.mp4", "@hevc_delimited.ts -c copy"},
    {"hevc_joined.ts", "cat @hevc_delimited.ts @hevc_delimited.ts"},
    {"hevc_raw.265", "%c %h:keyint=10:bframes=0"},
    {"hevc_padded.265",
     "cat @hevc_raw.265 #00000000000000000000 @hevc_raw.265"},
    {"hevc_ended.265",
     "cat @hevc_raw.265 #000000014801 @hevc_raw.265 #000000014801"},
    {"hevc_ended.mp4", "-fflags +genpts -r 25 @hevc_ended.265 -c copy"},
};

}  // namespace

std::span<const UnusualClip> UnusualH26xClips() { return kClips; }

}  // namespace bulkhead::tests
