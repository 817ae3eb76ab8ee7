// SPDX-License-Identifier: Apache-2.0

// A program as a user of an installed Bulkhead writes it: prints the number of
// frames of a clip, decoded on the device that is named.

#include <bulkhead/host.h>
#include <bulkhead/version.h>

#include <iostream>
#include <string>

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
