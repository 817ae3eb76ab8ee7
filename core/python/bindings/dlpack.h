// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>

#include "bulkhead/frame.h"

namespace bulkhead::python {

// The structs that a DLPack capsule points to, as version 1.0 of its ABI has
// them. Debian's dlpack.h is older and lacks the versioned one.
namespace dlpack {

struct Version {
  uint32_t major;
  uint32_t minor;
};

struct Device {
  int32_t type;
  int32_t id;
};
constexpr int32_t kCpu = 1;

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
constexpr uint8_t kUnsignedInteger = 1;
constexpr uint8_t kFloat = 2;

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // In elements.
  uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

struct VersionedTensor {
  Version version;
  void* context;
  void (*deleter)(VersionedTensor*);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1;
constexpr uint64_t kIsCopied = 2;

}  // namespace dlpack

// A picture in memory that lives as long as its owner.
struct SharedPicture {
  std::shared_ptr<const void> owner;
  const std::byte* data;
  Dtype dtype;
  std::array<int64_t, 3> shape;
  std::array<int64_t, 3> strides;  // In elements.
};

// Returns a capsule of version 0 (`dltensor`), which has no flags: the consumer
// may write to the memory.
pybind11::capsule UnversionedCapsule(SharedPicture picture);

// Returns a capsule of version 1.0 (`dltensor_versioned`).
pybind11::capsule VersionedCapsule(SharedPicture picture, uint64_t flags);

}  // namespace bulkhead::python
