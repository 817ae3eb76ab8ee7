// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::cli::top {

// The lines of the help of `bulkhead top`.
inline constexpr const char* kHelp[] = {
    "The worst comes first. STATE says what is wrong:",
    "  quarantined  the backend failed too often and is not started",
    "  backing off  the backend failed and waits for its next start; starting: "
    "the next start has begun",
    "  lost         the backend's process has ended; the next request starts "
    "it",
    "  written off  a worker was killed, and the kernel does not let it end",
    "  silent       the application's bulkheadd does not answer",
    "  waiting      the application has waited for a frame for two seconds or "
    "more, or the session has no worker; idle: nothing is asked of it",
    "  disabled     an operator disabled the backend",
    "  ready        with a cause: a reload failed and was rolled back",
    "  restarted    workers were lost and replaced; LOST counts them",
    "  slow         less than half of the median of the sessions of its device",
    "",
    "FRAMES/S is the rate of the last two seconds. For an application or a "
    "backend, it is the sum of the rates of its sessions. The bar compares a "
    "session with the fastest one.",
    "",
    "Keys:",
    "  arrows, j k, page up and down, Home, End",
    "               move; Home: stay with the worst",
    "  r            restart the backend and forget its failures",
    "  l            reload: new streams use the files installed now",
    "  d, e         disable the backend, enable it again",
    "  c            the records of crashes of the row, Enter shows one",
    "  q, ^C        quit; back from a pane",
    "  ?            this help",
    "",
    "A command is for the application of the row alone; no open stream ends. "
    "Records are those of the default state directory."};

}  // namespace bulkhead::cli::top
