// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tools/cli/conformance/checks.h"
#include "tools/cli/conformance/compare.h"
#include "tools/cli/conformance/each_clip.h"
#include "tools/cli/conformance/examination.h"
#include "tools/cli/conformance/reopening.h"

namespace bulkhead::cli::conformance {
namespace {

Verdict GivesFramesThatStay(Subject& subject) {
  return TryEachClip(subject, [](Subject& tried, const ReferenceClip& clip) {
    return Examine(tried, clip, kFramesStayAndOneEnd, "send-4");
  });
}

Verdict ReportsFieldsAsFfmpeg(Subject& subject) {
  return TryEachClip(subject, [](Subject& tried, const ReferenceClip& clip) {
    return CompareFields(tried, clip, Fields::kCertain);
  });
}

// Returns whether a decoder of the clip's codec need not notice that the end of
// a packet is missing. FFmpeg's decoders of these codecs read zeroes there.
bool IgnoresCutPackets(const ReferenceClip& clip) {
  constexpr std::array<std::string_view, 5> kCodecs = {"vp8", "vp9", "theora",
                                                       "mjpeg", "huffyuv"};
  return std::find(kCodecs.begin(), kCodecs.end(), clip.codec) != kCodecs.end();
}

// Decodes the clip while the worker cuts the packet with the number `packet` in
// half. Frames that the decoder marks as damaged may have any picture; all
// others must equal ffmpeg's frames of the intact clip.
Verdict DecodeCut(Subject& subject, const ReferenceClip& clip,
                  const std::string& packet) {
  const auto host = subject.SharedHost();
  if (!host) return FailedBy(host.error(), "life-1");
  auto video =
      subject.Open(**host, clip,
                   {.on_corrupt = OnCorrupt::kShow,
                    .backend_options = {{"bulkhead.cut-packet", packet}}});
  Status status = video ? Status() : video.error();
  std::set<size_t> unmarked;
  std::set<size_t> wrong;
  while (status.ok()) {
    const auto frame = video->Next();
    if (!frame) status = frame.error();
    if (!frame || !*frame) break;
    const size_t index = (*frame)->index();
    if ((*frame)->damaged() || index >= clip.frames.size()) continue;
    unmarked.insert(index);
    if (!CompareFrame(**frame, clip, index, "frame-8").passed()) {
      wrong.insert(index);
    }
  }
  if (!status.ok() && status.code() != Code::kBadInput) {
    return FailedBy(status, "bad-1");
  }
  if (wrong.empty() || IgnoresCutPackets(clip)) return Verdict::Passed();
  // The first frame that is marked or missing. If a wrong frame comes earlier,
  // the damage was noticed too late (frame-9), else not at all (frame-8).
  size_t first_marked = 0;
  while (unmarked.contains(first_marked)) ++first_marked;
  const bool before =
      *wrong.begin() < first_marked && first_marked < clip.frames.size();
  return Verdict::Failed(
      before ? "frame-9" : "frame-8",
      fmt::format("of {}, whose packet {} was cut in its middle, frame {} has "
                  "another picture and counts as sound{}",
                  clip.name, packet, *wrong.begin(),
                  before ? fmt::format("; the first that does not is frame {}",
                                       first_marked)
                         : ""));
}

// Cuts a packet, and checks that each wrong frame is marked as damaged.
Verdict MarksDamageIn(Subject& subject, const ReferenceClip& clip) {
  // Packets 5 and 8 hold reference pictures, which other pictures need. Neither
  // is the first picture on the screen.
  for (const char* packet : {"5", "8"}) {
    const Verdict verdict = DecodeCut(subject, clip, packet);
    if (verdict.passed()) continue;
    // The worker holds frames until it knows which are damaged. A backend that
    // overwrites held frames (frame-5) fails here for that reason, which
    // another check reports.
    const Verdict stay =
        Examine(subject, clip, {{"bulkhead.hold-frames", "3"}}, "frame-5");
    if (stay.passed()) return verdict;
    return Verdict::NotTried("frames change while they wait for others");
  }
  if (!IgnoresCutPackets(clip)) return Verdict::Passed();
  return Verdict::NotTried("nothing in " + clip.codec +
                           " tells that bytes of a packet are missing");
}

Verdict MarksDamage(Subject& subject) {
  return TryEachClip(subject, MarksDamageIn);
}

// Makes acquire_buffer return OUT_OF_MEMORY after a few buffers. The pass must
// fail with kResourceExhausted. It may also succeed, with a backend that then
// uses memory of its own.
Verdict EndsWithoutBuffers(Subject& subject) {
  const ExaminerOptions kEnoughBuffers = {
      {"bulkhead.refuse-buffers", "1000000"}};
  const ReferenceClip& clip = subject.clips().front();
  for (const char* buffers : {"0", "3"}) {
    const auto host = subject.NewHost(
        [](HostOptions& options) { options.limits.attempts_per_position = 1; });
    if (!host) return FailedBy(host.error(), "life-1");
    auto video = subject.Open(
        **host, clip,
        {.backend_options = {{"bulkhead.refuse-buffers", buffers}}});
    Status status = video ? Status() : video.error();
    Verdict verdict = Verdict::Passed();
    for (size_t index = 0; status.ok() && verdict.passed(); ++index) {
      const auto frame = video->Next();
      if (!frame) status = frame.error();
      if (!frame || !*frame) break;
      verdict = CompareFrame(**frame, clip, index, "acquire-1");
    }
    if (!status.ok() && status.code() != Code::kResourceExhausted) {
      verdict = FailedBy(status, "acquire-1");
    }
    if (verdict.passed() && video) verdict = CompareRestarts(*video, 0);
    if (verdict.passed()) continue;
    // The buffers are not the cause if closing the decoder fails (close-1), or
    // if the pass fails with enough buffers, too.
    const Verdict close = BlameReopeningIfItFails(verdict, subject);
    if (close.clause() == "close-1") return close;
    const Verdict fed = Examine(subject, clip, kEnoughBuffers, "acquire-1");
    if (!fed.passed()) {
      return Verdict::NotTried("it fails in the same way with all buffers: " +
                               fed.words());
    }
    return Verdict::Failed(
        "acquire-1",
        fmt::format("after {} buffers acquire_buffer returned OUT_OF_MEMORY: "
                    "{}",
                    buffers, verdict.words()));
  }
  return Verdict::Passed();
}

// Makes acquire_buffer refuse all pictures as unsupported: the backend then has
// to use memory of its own.
Verdict DecodesIntoOwnMemory(Subject& subject) {
  return Examine(subject, subject.clips().front(),
                 {{"bulkhead.without-buffers", "1"}}, "acquire-1");
}

}  // namespace

std::vector<Check> ExaminationChecks() {
  return {
      {"reports the fields of frames as ffmpeg does", "frame-11",
       ReportsFieldsAsFfmpeg},
      {"gives frames that stay, and one end", "frame-5", GivesFramesThatStay},
      {"marks what is damaged", "frame-8", MarksDamage},
      {"ends when there are no more buffers", "acquire-1", EndsWithoutBuffers},
      {"decodes into its own memory where it gets no buffers", "acquire-1",
       DecodesIntoOwnMemory},
  };
}

}  // namespace bulkhead::cli::conformance
