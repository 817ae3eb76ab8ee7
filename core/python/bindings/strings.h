// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace bulkhead::python {

// Returns the text for people to read: bytes that are no UTF-8, as the names of
// files can have, are shown as \xff.
inline pybind11::str Shown(const std::string& text) {
  PyObject* shown = PyUnicode_DecodeUTF8(
      text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (shown == nullptr) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::str>(shown);
}

}  // namespace bulkhead::python

namespace pybind11::detail {

// A string of the library is a str as the names of files are in Python, in both
// directions: bytes that are no UTF-8 are lone surrogates (PEP 383). It can be
// given as bytes as well. Every source of the module that has strings in a
// signature includes this header.
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
