// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

namespace bulkhead::cli::top {

// Runs the full screen of `bulkhead top` until the user quits, a signal ends it
// or the terminal is gone, and puts the terminal back. kUnsupported if the
// terminal cannot be drawn on; nothing was drawn then.
//
// Three threads, each with what it alone uses:
//
//   the caller's   the screen, the keys, the signals, the View; reads records
//   of
//                  crashes, which are local files
//   Readings       asks all applications about once a second
//   Commands       gives one command at a time
//
// The first never waits for an application. Where one of the others still does
// when the user quits, the process ends at once: there is nothing to save.
Status RunLive();

}  // namespace bulkhead::cli::top
