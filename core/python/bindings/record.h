// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <utility>

#include "core/python/bindings/strings.h"

namespace bulkhead::python {

// Makes a struct of the library a class of Python whose members can be read:
//
//     Record<Ratio>(module, "Ratio", "A fraction.")
//         .field("numerator", &Ratio::numerator)
//         .field("denominator", &Ratio::denominator);
//
// __match_args__ has the names of the members in the order in which they are
// declared here. Members are returned by value: Python holds no reference into
// the struct.
template <typename Struct>
class Record {
 public:
  Record(pybind11::module_& module, const char* name, const char* doc)
      : class_(module, name, doc) {}

  template <typename Base, typename Member>
  Record& field(const char* name, Member Base::*member) {
    return computed(name,
                    [member](const Struct& self) { return self.*member; });
  }

  // A member that `get` makes of the struct.
  template <typename Get>
  Record& computed(const char* name, Get get) {
    class_.def_property_readonly(name, std::move(get));
    names_ = names_ + pybind11::make_tuple(name);
    class_.attr("__match_args__") = names_;
    return *this;
  }

  // A method.
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
