// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace bulkhead {

// One row of a table of state transitions: for one event, the step that follows
// in each state. A table is an array with one row for each event. A row with a
// missing cell does not compile.
//
//   using On = StateRow<Event, Step, 2>;
//   constexpr std::array kTable = {On(Event::kAsked, stay, go), ...};
//   static_assert(IsInOrder(kTable, kEvents));

template <typename Event, typename Step, size_t kStates>
struct StateRow {
  template <typename... Steps>
  requires(sizeof...(Steps) == kStates)  //
      constexpr StateRow(Event event, Steps... steps)
      : event(event), steps{steps...} {}

  Event event;
  std::array<Step, kStates> steps;
};

// Returns whether there is one row for each event, in the order of the events.
template <typename Row, size_t kRows>
constexpr bool IsInOrder(const std::array<Row, kRows>& table, size_t events) {
  for (size_t i = 0; i < kRows; ++i) {
    if (static_cast<size_t>(table[i].event) != i) return false;
  }
  return kRows == events;
}

// Returns the step for `event` in `state`.
template <typename Row, size_t kRows, typename State, typename Event>
constexpr auto StepIn(const std::array<Row, kRows>& table, State state,
                      Event event) {
  return table[static_cast<size_t>(event)].steps[static_cast<size_t>(state)];
}

// Returns the name of `value`; `names` has the names in order of the values.
template <typename Names, typename Value>
constexpr const char* NameIn(const Names& names, Value value) {
  return names[static_cast<size_t>(value)];
}

}  // namespace bulkhead
