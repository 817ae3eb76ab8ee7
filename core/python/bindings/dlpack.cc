// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/dlpack.h"

#include <utility>

namespace bulkhead::python {
namespace {

namespace py = pybind11;

constexpr char kUnversioned[] = "dltensor";
constexpr char kVersioned[] = "dltensor_versioned";

// The struct `managed` that a capsule points to, and the picture that `managed`
// points into.
template <typename Managed>
struct Holder {
  Managed managed;
  SharedPicture picture;
};

// The deleter of a tensor. Consumers call it on any thread, with or without the
// GIL.
template <typename Managed>
void Delete(Managed* managed) {
  delete static_cast<Holder<Managed>*>(managed->context);
}

// The destructor of a capsule. Does nothing if a consumer has taken the tensor:
// that consumer has renamed the capsule and calls the deleter itself.
template <typename Managed, const char* kName>
void Destroy(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName) == 0) return;
  auto* const managed =
      static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName));
  managed->deleter(managed);
}

template <typename Managed, const char* kName>
py::capsule Capsule(std::unique_ptr<Holder<Managed>> holder) {
  SharedPicture& picture = holder->picture;
  const bool floats = picture.dtype == Dtype::kFloat32;
  holder->managed.context = holder.get();
  holder->managed.deleter = Delete<Managed>;
  holder->managed.tensor = {
      .data = const_cast<std::byte*>(picture.data),
      .device = {.type = dlpack::kCpu, .id = 0},
      .ndim = static_cast<int32_t>(picture.shape.size()),
      .dtype = {.code = floats ? dlpack::kFloat : dlpack::kUnsignedInteger,
                .bits = static_cast<uint8_t>(8 * BytesOf(picture.dtype)),
                .lanes = 1},
      .shape = picture.shape.data(),
      .strides = picture.strides.data(),
      .byte_offset = 0};
  PyObject* const capsule =
      PyCapsule_New(&holder->managed, kName, Destroy<Managed, kName>);
  if (capsule == nullptr) throw py::error_already_set();
  static_cast<void>(holder.release());
  return py::reinterpret_steal<py::capsule>(capsule);
}

}  // namespace

py::capsule UnversionedCapsule(SharedPicture picture) {
  using Managed = dlpack::ManagedTensor;
  return Capsule<Managed, kUnversioned>(std::make_unique<Holder<Managed>>(
      Holder<Managed>{.managed = {}, .picture = std::move(picture)}));
}

py::capsule VersionedCapsule(SharedPicture picture, uint64_t flags) {
  using Managed = dlpack::VersionedTensor;
  auto holder = std::make_unique<Holder<Managed>>(
      Holder<Managed>{.managed = {}, .picture = std::move(picture)});
  holder->managed.version = {.major = 1, .minor = 0};
  holder->managed.flags = flags;
  return Capsule<Managed, kVersioned>(std::move(holder));
}

}  // namespace bulkhead::python
