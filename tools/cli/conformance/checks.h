// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli::conformance {

// A test of one property of a backend. Each check is a line of the report.
struct Check {
  std::string name;    // "seeks"
  std::string clause;  // the tested clause of bulkhead_backend.h: "flush-1"
  std::function<Verdict(Subject&)> run;
  // Repeats the work of `run` with the backend `cpu`, so that the report can
  // compare the times. Empty if that comparison is useless.
  std::function<void(Subject&)> run_on_cpu = {};
  // If not empty, makes the files that `run` needs, before time is measured.
  std::function<void(Subject&)> prepare = {};
};

// The functions below return the checks, grouped by topic. The groups must run
// in this order, because the decoding checks add the clips to the Subject that
// all later checks use.

// Returns the check that the backend loads. The check also makes the backend
// count its devices. The check passes even if the user named a device that does
// not exist, such as acme:7, since that is not the backend's fault.
Check LoadingCheck();
// Return checks of the backend before any stream is open: that the backend
// starts no thread, and lists the same devices each time.
std::vector<Check> DescriptionChecks();
// Return checks that frames equal ffmpeg's: one check for each name in `clips`,
// which MakeClip makes, and one for each of the files `media`. If the device
// does not list the codec of a clip, the check is that the device refuses it.
// The backend must have run before, so that `subject` knows the listed codecs.
std::vector<Check> DecodingChecks(const Subject& subject,
                                  const std::vector<ClipName>& clips,
                                  const std::vector<std::string>& media);
// Return checks that audio samples equal ffmpeg's, if the backend has audio.
std::vector<Check> AudioChecks(const Subject& subject);
// Return checks of seeks, flushes, several sessions, devices and threads.
std::vector<Check> AccessChecks();
// Return checks that only the worker can make, since they concern calls of the
// C ABI: how long frames stay valid, the fields of frames, how damaged frames
// are marked, and the decoder's reaction when the worker refuses a buffer.
std::vector<Check> ExaminationChecks();
// Return checks of errors: an unknown option, too large pictures, damaged
// packets, and a cancelled call.
std::vector<Check> ErrorChecks();
// Return checks of killed workers, of restarts, of a memory limit, and of leaks
// in a thousand opened decoders.
std::vector<Check> EnduranceChecks();

}  // namespace bulkhead::cli::conformance
