// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/conformance/finding.h"
#include "tools/cli/conformance/reference_clip.h"
#include "tools/cli/conformance/subject.h"

namespace bulkhead::cli {

// One thing that is tried with a backend.
struct Check {
  std::string name;    // "seeks"
  std::string clause;  // the clause of bulkhead_backend.h that it is about
  std::function<Verdict(Subject&)> run;
  // Does the same with the backend `cpu`, where the time says something; may be
  // empty.
  std::function<void(Subject&)> run_on_cpu = {};
  // Makes what the check needs, before its time is taken; may be empty.
  std::function<void(Subject&)> prepare = {};
};

// The checks, by subject. The order matters: the first ones find the clips that
// the later ones use.

// Checks that the backend loads. Passes too if the device has an index that the
// backend has not counted.
Check LoadingCheck();
// Check what it does before there is a stream: it starts no thread, and names
// the same devices each time.
std::vector<Check> DescriptionChecks();
// Check that each clip comes out as ffmpeg decodes it: `clips`, which are made,
// and the files of `media`. The backend has run, so that its device says what
// it decodes; that it refuses the other codecs is checked too.
std::vector<Check> DecodingChecks(const Subject& subject,
                                  const std::vector<ClipName>& clips,
                                  const std::vector<std::string>& media);
// Check that sound comes out as ffmpeg decodes it, if the backend decodes
// sound.
std::vector<Check> AudioChecks(const Subject& subject);
// Check seeks, flushes, several sessions, devices and threads.
std::vector<Check> AccessChecks();
// Check what only the worker sees: how long frames stay, their fields, the
// marks of damage, and what follows when buffers are refused.
std::vector<Check> ExaminationChecks();
// Check streams that are not supported, damaged, too large or cancelled.
std::vector<Check> ErrorChecks();
// Check deaths, little memory, and a thousand opens.
std::vector<Check> EnduranceChecks();

}  // namespace bulkhead::cli
