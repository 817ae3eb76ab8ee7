// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/damage.h"

#include <array>
#include <cstddef>

namespace bulkhead {
namespace {

struct Words {
  const char* name;
  const char* text;
};

// The words of each sign, in the order of the enumerators.
constexpr std::array<Words, 12> kSigns = {{
    {"unknown", "the worker does not say what showed it"},
    {"rejected", "the decoder rejected the packet"},
    {"flagged", "the decoder made up parts of the picture"},
    {"refers_to_damaged", "it refers to a damaged frame"},
    {"no_picture", "no picture came back for the packet"},
    {"stopped", "libavformat stopped before the end of the file"},
    {"cut_off", "the header of the file counts more"},
    {"shrunk", "the file became shorter while it was read"},
    {"promised", "the index has the frame and the pass gave none"},
    {"marked", "libavformat or the decoder found fault with the packet"},
    {"ends_in_packet", "the file ends within its last packet"},
    {"gap", "the timestamps leave a gap"},
}};
static_assert(static_cast<size_t>(DamageSign::kGap) + 1 == kSigns.size());

}  // namespace

const char* DamageKindName(DamageKind kind) {
  return kind == DamageKind::kNote ? "note" : "damage";
}

const char* DamageSignName(DamageSign sign) {
  return kSigns.at(static_cast<size_t>(sign)).name;
}

const char* DamageSignText(DamageSign sign) {
  return kSigns.at(static_cast<size_t>(sign)).text;
}

}  // namespace bulkhead
