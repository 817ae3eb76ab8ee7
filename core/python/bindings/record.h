// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>

#include "core/python/bindings/strings.h"

namespace bulkhead::python {

// Defines a class of Python for a struct of the library, with attributes that
// can be read:
//
//     Record<Ratio>(module, "Ratio", "A fraction.")
//         .field("numerator", &Ratio::numerator)
//         .field("denominator", &Ratio::denominator);
//
// The class's __match_args__ has the names of its attributes in this order, for
// code that lists them. Attributes are returned by value: Python has no
// reference into the struct.
template <typename Struct>
class Record {
 public:
  Record(pybind11::module_& module, const char* name, const char* doc)
      : class_(module, name, doc) {}

  // Adds an attribute for a member of the struct.
  template <typename Base, typename Member>
  Record& field(const char* name, Member Base::*member) {
    return computed(name,
                    [member](const Struct& self) { return self.*member; });
  }

  // Adds an attribute whose value is get(struct).
  template <typename Get>
  Record& computed(const char* name, Get get) {
    class_.def_property_readonly(name, std::move(get));
    names_ = names_ + pybind11::make_tuple(name);
    class_.attr("__match_args__") = names_;
    return *this;
  }

  // Adds a method, which is not in __match_args__.
  template <typename Get, typename... Extra>
  Record& hidden(const char* name, Get get, const Extra&... extra) {
    class_.def(name, std::move(get), extra...);
    return *this;
  }

 private:
  pybind11::class_<Struct> class_;
  pybind11::tuple names_;
};

}  // namespace bulkhead::python
