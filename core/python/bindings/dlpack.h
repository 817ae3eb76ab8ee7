// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>

#include "bulkhead/frame.h"

namespace bulkhead::python {

// DLPack is an ABI by which libraries of arrays exchange memory: the producer
// gives a capsule of Python that points to a description of a tensor.
//
// These are the structs of version 1.0 of the ABI. Debian's dlpack.h is older
// and lacks VersionedTensor.
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

// A picture, and the owner that keeps its memory alive.
struct SharedPicture {
  std::shared_ptr<const void> owner;
  const std::byte* data;
  Dtype dtype;
  std::array<int64_t, 3> shape;
  std::array<int64_t, 3> strides;  // In elements.
};

// Returns a capsule of an ABI before 1.0 (`dltensor`). It has no flags, so the
// consumer may write to the memory. The capsule, or the consumer that takes the
// tensor from it, keeps the picture's owner.
pybind11::capsule UnversionedCapsule(SharedPicture picture);

// Returns a capsule of version 1.0 (`dltensor_versioned`) with flags such as
// kReadOnly.
pybind11::capsule VersionedCapsule(SharedPicture picture, uint64_t flags);

}  // namespace bulkhead::python
