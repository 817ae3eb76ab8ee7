// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the worker's readers of the bytes of media files. The first byte of
// the input selects the reader, the next two an offset; the rest is the file.

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/worker/media/avi_index.h"
#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/declared_frames.h"
#include "backends/worker/media/declared_size.h"
#include "backends/worker/media/file_window.h"
#include "backends/worker/media/matroska_walk.h"
#include "backends/worker/media/media_bytes.h"
#include "backends/worker/media/memory_bytes.h"
#include "backends/worker/media/mp3_info.h"
#include "backends/worker/media/ogg_pages.h"
#include "backends/worker/media/transport_walk.h"
#include "tests/fuzz/check.h"

namespace {

using namespace bulkhead::worker;

void FuzzMp3(MemoryBytes& file) {
  const auto info = ReadMp3Info(MediaBytes(file));
  if (!info) return;
  FUZZ_CHECK(info->frames > 0);
  FUZZ_CHECK(info->begin >= 0 && info->begin < info->end);
  FUZZ_CHECK(info->end <= file.size());
  FUZZ_CHECK(info->start_padding < 4096 && info->end_padding < 4096);
}

void FuzzOgg(MemoryBytes& file, int64_t offset) {
  OggPages pages(MediaBytes(file), offset);
  int64_t end = offset;
  while (const auto page = pages.Next(file.size())) {
    FUZZ_CHECK(page->offset == end + page->stray_bytes);
    FUZZ_CHECK(page->end > page->offset && page->end <= file.size());
    FUZZ_CHECK(page->parts.size() <= 255);
    end = page->end;
  }
  FUZZ_CHECK(pages.offset() >= end);
}

// Walks from block to block, as libavformat may claim that they are.
void FuzzWalk(std::string_view container, MemoryBytes& file, int64_t offset) {
  const auto walk = ContainerWalk::Of(container, 1, MediaBytes(file),
                                      file.size(), file.size() + 1);
  if (walk == nullptr) return;
  for (const int64_t position : {offset, offset + 300, file.size() / 2}) {
    if (walk->LostUntil(position)) FUZZ_CHECK(walk->broken_at() >= 0);
  }
  (void)walk->LostUntilEnd();
}

void FuzzMatroska(MemoryBytes& file, int64_t offset) {
  FuzzWalk("matroska,webm", file, offset);
  MatroskaWalk walk(FileWindow(MediaBytes(file), file.size()), 1);
  (void)walk.BeginsCluster(offset);
}

void FuzzAvi(MemoryBytes& file, int64_t offset) {
  FuzzWalk("avi", file, offset);
  FileWindow window(MediaBytes(file), file.size());
  auto index = AviIndex::Read(window, file.size() + offset % 64, 1);
  if (!index) return;
  FUZZ_CHECK(index->end() >= 0);
  for (const bool is_lost : {false, true}) {
    const auto time = index->TimeOf(window, offset, is_lost);
    FUZZ_CHECK(!time || (*time >= 0 && *time <= index->end()));
  }
}

void FuzzFragments(MemoryBytes& file, int64_t offset) {
  FuzzWalk("mov,mp4,m4a,3gp,3g2,mj2", file, offset);
}

void FuzzHeaders(MemoryBytes& file) {
  const MediaBytes bytes(file);
  for (const char* container :
       {"matroska,webm", "avi", "wav", "aiff", "caf", "au", "flv", "asf",
        "mov,mp4,m4a,3gp,3g2,mj2", "mpegts", "ogg", "rm", "mxf", "gif", "dv",
        "yuv4mpegpipe"}) {
    FUZZ_CHECK(DeclaredSize(container, bytes, file.size()) >= 0);
  }
  const ByteRange samples = WavSamples(bytes, file.size());
  FUZZ_CHECK(samples.begin >= 0);
  FUZZ_CHECK(AsfMicroseconds(bytes, file.size()) >= -1);
  (void)ReadDeclaredFrames("ivf", bytes, file.size());
  FUZZ_CHECK(!ReadDeclaredFrames("apng", bytes, file.size()).may_be_time);
}

void FuzzTransport(MemoryBytes& file, int64_t offset) {
  FuzzWalk("mpegts", file, offset);
  TransportWalk walk(FileWindow(MediaBytes(file), file.size()), 256);
  (void)walk.LostUntilFirst(offset);
  (void)walk.LostUntil(file.size() / 2);
  (void)walk.IsSuspiciousBehind();
  (void)walk.LostUntilEnd();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const int64_t offset = data[1] << 8 | data[2];
  MemoryBytes file(
      std::string(reinterpret_cast<const char*>(data) + 3, size - 3));
  switch (data[0]) {
    case 'm':
      FuzzMp3(file);
      break;
    case 'o':
      FuzzOgg(file, offset);
      break;
    case 'e':
      FuzzMatroska(file, offset);
      break;
    case 'a':
      FuzzAvi(file, offset);
      break;
    case 'f':
      FuzzWalk("flv", file, offset);
      break;
    case 's':
      FuzzWalk("asf", file, offset);
      break;
    case 'p':
      FuzzFragments(file, offset);
      break;
    case 'd':
      FuzzHeaders(file);
      break;
    case 't':
      FuzzTransport(file, offset);
      break;
  }
  return 0;
}
