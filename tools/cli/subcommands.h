// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

// The functions that add the subcommands of `bulkhead` to the program. Each is
// defined in the folder of its namespace, in the file of its name, such as
// decode/probe_command.cc.

namespace bulkhead::cli::operators {

// Adds `bulkhead backends`, which lists the backends that discovery found and
// the state of each.
void AddBackendsCommand(Command& program, Invocation& invocation);

// Adds `bulkhead entry-points`, which lists the entry points of all groups that
// installed packages declare.
void AddEntryPointsCommand(Command& program, Invocation& invocation);

// Adds `bulkhead install`, which installs a vendor's wheel into a plugin
// directory.
void AddInstallCommand(Command& program, Invocation& invocation);

// Adds `bulkhead uninstall`, which removes a distribution from a plugin
// directory.
void AddUninstallCommand(Command& program, Invocation& invocation);

// Adds `bulkhead grant`, which grants a backend permissions that its manifest
// asks for, such as access to a device node.
void AddGrantCommand(Command& program, Invocation& invocation);

// Adds `bulkhead revoke`, which takes back permissions that `bulkhead grant`
// granted.
void AddRevokeCommand(Command& program, Invocation& invocation);

// Adds `bulkhead grants`, which lists the grants of each backend with the file
// that holds them.
void AddGrantsCommand(Command& program, Invocation& invocation);

// Adds `bulkhead ps`, which lists this user's running applications with their
// backends and sessions.
void AddPsCommand(Command& program, Invocation& invocation);

// Adds `bulkhead events`, which prints the recorded events of backends and
// sessions and, with --follow, each new event.
void AddEventsCommand(Command& program, Invocation& invocation);

// Adds `bulkhead restart`, `reload`, `disable` and `enable`. Each acts on one
// backend, in one or all of the user's running applications.
void AddBackendCommands(Command& program, Invocation& invocation);

// Adds `bulkhead doctor`, which decodes a picture to find out whether decoding
// works on this machine. If not, it says what is missing and how to fix it.
void AddDoctorCommand(Command& program, Invocation& invocation);

// Adds `bulkhead crashes [show N | clear]`, which shows or removes the records
// that bulkheadd keeps of crashed backend processes.
void AddCrashesCommand(Command& program, Invocation& invocation);

// Adds `bulkhead replay N`. Crash record N has the request during which a
// backend's process crashed; the command repeats it with a new process.
void AddReplayCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::operators

namespace bulkhead::cli::top {

// Adds `bulkhead top`, which shows this user's running applications, backends
// and sessions on a full screen. Rows with trouble come first.
void AddTopCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::top

namespace bulkhead::cli::metrics {

// Adds `bulkhead metrics`, which prints the counts of the running applications
// in Prometheus' text format, or serves them by HTTP.
void AddMetricsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::metrics

namespace bulkhead::cli::decode {

// Adds `bulkhead probe FILE...`, which prints the metadata of each file and of
// each stream in it. A sandboxed worker reads the files, without decoding.
void AddProbeCommand(Command& program, Invocation& invocation);

// Adds `bulkhead decode FILE...`, which decodes one stream of each file, whole
// or in part, to pictures, raw pixels, samples, hashes or nothing.
void AddDecodeCommand(Command& program, Invocation& invocation);

// Adds `bulkhead sheet FILE -o sheet.png`. The command draws frames from even
// intervals of the file into one picture, each with its time.
void AddSheetCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::decode

namespace bulkhead::cli::batch {

// Adds `bulkhead batch FILE... -o DIR`. The command decodes many files, or one
// shard of them, into a directory, and continues where an earlier run ended.
void AddBatchCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::batch

namespace bulkhead::cli::demo {

// Adds `bulkhead demo`, which decodes a clip, kills the decoding processes
// meanwhile, and shows that the frames equal the frames of an undisturbed run.
void AddDemoCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::demo

namespace bulkhead::cli::conformance {

// Adds `bulkhead conformance`, the integration tests of one backend.
void AddConformanceCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::conformance

namespace bulkhead::cli::verify {

// Adds `bulkhead verify`, which compares the frames that two devices decode.
void AddVerifyCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::verify

namespace bulkhead::cli::reference {

// Adds `bulkhead completion SHELL`, which prints the completion script for a
// shell. The script has all subcommands of `program`, including those that are
// added after this call.
void AddCompletionCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli::reference
