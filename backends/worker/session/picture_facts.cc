// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/picture_facts.h"

namespace bulkhead::worker::session {
namespace {

constexpr uint8_t kUnspecified = 2;  // of code points of ITU-T H.273
constexpr int kMostRange = 2;
constexpr int kMostChromaLocation = 6;

uint8_t CodePoint(int value) {
  return value >= 0 && value <= UINT8_MAX ? static_cast<uint8_t>(value)
                                          : kUnspecified;
}

uint8_t UpTo(int most, int value) {
  return value >= 0 && value <= most ? static_cast<uint8_t>(value) : 0;
}

}  // namespace

PictureFacts FactsOf(const bulkhead_frame& frame) {
  return {.primaries = CodePoint(frame.color_primaries),
          .transfer = CodePoint(frame.color_transfer),
          .space = CodePoint(frame.color_space),
          .range = UpTo(kMostRange, frame.color_range),
          .chroma_location = UpTo(kMostChromaLocation, frame.chroma_location),
          .interlaced = frame.interlaced != 0,
          .top_field_first = frame.top_field_first != 0};
}

void SetFacts(ipc::schema::PictureFacts::Builder out,
              const PictureFacts& facts) {
  out.setPrimaries(facts.primaries);
  out.setTransfer(facts.transfer);
  out.setSpace(facts.space);
  out.setRange(facts.range);
  out.setChromaLocation(facts.chroma_location);
  out.setInterlaced(facts.interlaced);
  out.setTopFieldFirst(facts.top_field_first);
}

}  // namespace bulkhead::worker::session
