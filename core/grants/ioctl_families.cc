// SPDX-License-Identifier: Apache-2.0
#include "core/grants/ioctl_families.h"

namespace bulkhead::grants {
namespace {

constexpr uint8_t kDmaBuf[] = {'b'};
constexpr uint8_t kDmaHeap[] = {'H'};
constexpr uint8_t kDrm[] = {'d'};
constexpr uint8_t kKfd[] = {'K'};
constexpr uint8_t kMedia[] = {'|'};
// Requests of nvidia-uvm have no type: they are plain numbers, so bits 8 to 15
// are 0.
constexpr uint8_t kNvidia[] = {'F', 0};
constexpr uint8_t kSyncFile[] = {'>'};
constexpr uint8_t kV4l2[] = {'V'};

// Sorted by name.
constexpr IoctlFamily kFamilies[] = {
    {"dma-buf", kDmaBuf},      // buffers shared between drivers
    {"dma-heap", kDmaHeap},    // allocation of such buffers
    {"drm", kDrm},             // graphics: VA-API, accelerators
    {"kfd", kKfd},             // AMD compute
    {"media", kMedia},         // requests to stateless V4L2 decoders
    {"nvidia", kNvidia},       // NVIDIA's driver and unified memory
    {"sync-file", kSyncFile},  // fences between drivers
    {"v4l2", kV4l2},           // video devices
};

}  // namespace

const IoctlFamily* FindIoctlFamily(std::string_view name) {
  for (const IoctlFamily& family : kFamilies) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

std::string IoctlFamilyNames() {
  std::string names;
  for (const IoctlFamily& family : kFamilies) {
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  }
  return names;
}

}  // namespace bulkhead::grants
