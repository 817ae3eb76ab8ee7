// SPDX-License-Identifier: Apache-2.0

// A program as a user of an installed Bulkhead writes it: prints the number of
// frames of a clip, decoded on the device that is named.

#include <bulkhead/host.h>
#include <bulkhead/samplers.h>
#include <bulkhead/version.h>

#include <iostream>
#include <string>

// Options are written with the members that matter, without a warning about the
// others (-Wextra).
inline const bulkhead::HostOptions host_options = {.default_device = "cpu"};
inline const bulkhead::ProbeOptions probe_options = {.scan = true};
inline const bulkhead::VideoOptions video_options = {.threads = 2};
inline const bulkhead::AudioOptions audio_options = {.device = "cpu"};
inline const bulkhead::AllowedMedia allowed_media = {.containers = {}};
inline const bulkhead::ShadowOptions shadow_options = {.share = 0.1};
inline const bulkhead::IndexClips index_clips = {.clips = 2};
inline const bulkhead::TimeClips time_clips = {.clips = 2};
inline const bulkhead::EntryPointQuery query = {.group = "acme.plugins"};

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto host = bulkhead::Host::Create({});
  if (!host) return std::cerr << host.error() << '\n', 1;
  auto video = (*host)->OpenVideo(argv[1], {.device = argv[2]});
  if (!video) return std::cerr << video.error() << '\n', 1;
  uint64_t frames = 0;
  for (;; ++frames) {
    auto frame = video->Next();
    if (!frame) return std::cerr << frame.error() << '\n', 1;
    if (!*frame) break;
  }
  std::cout << frames << " frames with " << bulkhead::LibraryVersion() << '\n';
  return std::string(bulkhead::LibraryVersion()) == BULKHEAD_VERSION ? 0 : 1;
}
