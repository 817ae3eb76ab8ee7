// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

namespace bulkhead::cli::top {

// Runs the full screen of `bulkhead top` until the user quits, a signal ends it
// or the terminal is gone, and restores the terminal. Returns kUnsupported,
// without having drawn anything, if the terminal cannot be drawn on.
//
// There are three threads, each with data that it alone uses:
//
//   the caller's   owns the screen, the keys, the signals and the View; reads
//                  crash records, which are local files
//   Readings       asks all applications about once a second
//   Commands       sends one command at a time and awaits its outcome
//
// The caller's thread never waits for an application. If another thread still
// waits for an application when the user quits, RunLive() ends the process at
// once, since there is nothing to save.
Status RunLive();

}  // namespace bulkhead::cli::top
