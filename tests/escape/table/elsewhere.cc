// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/elsewhere.h"

namespace bulkhead::tests {
namespace {

constexpr const char* kLiars = "LIARS_TEST";
constexpr const char* kRing = "RING_TEST";
constexpr const char* kLockdown = "LOCKDOWN_TEST";
constexpr const char* kDeath = "APPLICATION_DEATH_TEST";

constexpr Elsewhere kElsewhere[] = {
    {23, "a thread before the lock-down", kLockdown,
     "Stage1RefusesAProcessWithASecondThread"},
    {57, "outliving the application", kDeath, "TakesEverythingWithIt"},
    {57, "with a child that holds its descriptors", kDeath,
     "TakesEverythingWithItThoughAChildHoldsItsDescriptors"},
    {57, "with a stopped bulkheadd", kDeath,
     "TakesEverythingWithItThoughBulkheaddIsStopped"},
    {57, "outliving bulkheadd", kDeath,
     "BulkheaddsDeathTakesTheSandboxesWithIt"},
    {58, "ignoring its end", kLiars, "AWorkerThatIgnoresItsEndIsKilled"},
    {60, "a descriptor of its own for the host", kLiars,
     "EndsInItsCodeAndHurtsNobody/hello_descriptor"},
    {61, "rewriting all while the host reads", kRing,
     "ReadingWhileAThreadRewritesEverythingIsSafe"},
    {61, "rewriting a message that was read", kRing,
     "AMessageStaysTheSameWhileItsProducerRewritesIt"},
    {62, "no pixels", kLiars, "EndsInItsCodeAndHurtsNobody/open_no_pixels"},
    {62, "a huge picture", kLiars, "EndsInItsCodeAndHurtsNobody/open_huge"},
    {62, "a slot beyond the pool", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_slot_beyond"},
    {62, "a small stride", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_stride_small"},
    {62, "a stride that overflows", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_stride_overflows"},
    {62, "rows beyond the slot", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_stride_beyond"},
    {62, "a size that was not agreed", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_other_width"},
    {63, "one slot published twice", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_twice"},
    {63, "a slot of an old generation", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_wrong_generation"},
    {63, "frames from before a lie", kLiars,
     "FramesFromBeforeALieOutliveEverything"},
    {64, "a record without end", kLiars,
     "EndsInItsCodeAndHurtsNobody/ring_length_huge"},
    {64, "a record beyond what was written", kLiars,
     "EndsInItsCodeAndHurtsNobody/ring_length_beyond"},
    {64, "a root outside of its message", kLiars,
     "EndsInItsCodeAndHurtsNobody/ring_root_outside"},
    {64, "malformed messages", kRing, "MalformedMessagesAreMisbehaviourAndNot"},
    {64, "garbage before the session", kLiars,
     "EndsInItsCodeAndHurtsNobody/hello_garbage"},
    {64, "a message that is cut off", kLiars,
     "EndsInItsCodeAndHurtsNobody/hello_cut_off"},
    {65, "an answer to another question", kLiars,
     "EndsInItsCodeAndHurtsNobody/open_other_answer"},
    {65, "an answer to no question", kLiars,
     "EndsInItsCodeAndHurtsNobody/play_unasked"},
    {65, "the same answer twice", kLiars,
     "AZygoteThatNamesAProcessTwiceIsDoneWith"},
    {65, "another version", kLiars,
     "EndsInItsCodeAndHurtsNobody/hello_version"},
    {66, "descriptors where none are taken", kLiars,
     "EndsInItsCodeAndHurtsNobody/hello_descriptor"},
    {67, "a device that it has not", kLiars,
     "EndsInItsCodeAndHurtsNobody/probe_stranger"},
    {67, "a frame of a later request", kLiars,
     "EndsInItsCodeAndHurtsNobody/frame_of_the_future"},
    {67, "frames that nobody wanted", kLiars,
     "EndsInItsCodeAndHurtsNobody/seek_early_frames"},
    {67, "an impossible time base", kLiars,
     "EndsInItsCodeAndHurtsNobody/open_no_time_base"},
    {68, "no answer to open", kLiars,
     "EndsInItsCodeAndHurtsNobody/open_silent"},
    {68, "no frame", kLiars, "EndsInItsCodeAndHurtsNobody/frame_silent"},
    {68, "answers to what was cancelled", kLiars,
     "EndsInItsCodeAndHurtsNobody/play_stale_storm"},
    {68, "the process of another", kLiars,
     "EndsInItsCodeAndHurtsNobody/clone_pid_own"},
};

}  // namespace

std::span<const Elsewhere> MadeElsewhere() { return kElsewhere; }

}  // namespace bulkhead::tests
