// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace bulkhead::python {

// Returns a str for people to read: a byte that is not UTF-8, which a file name
// can have, becomes \xff.
inline pybind11::str Shown(const std::string& text) {
  PyObject* shown = PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (shown == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(shown);
}

}  // namespace bulkhead::python

namespace pybind11::detail {

// Converts std::string as Python converts the names of files: bytes that are
// not UTF-8 are lone surrogates in a str (PEP 383). Also accepts bytes. Every
// source of the module with strings in a signature includes this header, since
// all of them must use the same caster.
template <>
struct type_caster<std::string> {
  PYBIND11_TYPE_CASTER(std::string, const_name("str"));

  bool load(handle source, bool /*convert*/) {
    object bytes = reinterpret_borrow<object>(source);
    if (PyUnicode_Check(source.ptr())) {
      bytes = reinterpret_steal<object>(
          PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape"));
      if (!bytes) throw error_already_set();
    }
    if (!PyBytes_Check(bytes.ptr())) return false;
    value.assign(PyBytes_AS_STRING(bytes.ptr()),
                 static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr())));
    return true;
  }

  static handle cast(const std::string& text, return_value_policy /*policy*/,
                     handle /*parent*/) {
    PyObject* object = PyUnicode_DecodeUTF8(
        text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
    if (object == nullptr) throw error_already_set();
    return object;
  }
};

}  // namespace pybind11::detail
