// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "ipc/index_entry.h"
#include "ipc/protocol_version.h"
#include "tests/children/deaths.h"
#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Opened = schema::Opened::Builder;
using Reply = schema::Reply::Builder;
using Frame = schema::PublishedFrame::Builder;
using Unseen = schema::UnseenFrame::Builder;
using Fate = schema::UnseenFrame::Fate;

void SayNothing(Session&) {}

void FailWith(Session& session, uint16_t code, const char* message) {
  session.Reply([&](Reply reply) {
    auto failure = reply.initFailed().initFailure();
    failure.setCode(static_cast<schema::ErrorCode>(code));
    failure.setMessage(message);
  });
}

void MoveCursor(Session& session, uint64_t by) {
  session.header()->write_cursor.fetch_add(by);
  session.WakeHost();
}

void SendIndex(Session& session, size_t bytes) {
  session.Reply(
      [&](Reply reply) {
        auto out = reply.initIndexChunk().initEntries(bytes);
        std::memset(out.begin(), 0, bytes);
      },
      64 + bytes / 8);
}

// Answers `open` with a change to an answer that the preset `web` allows.
void ClaimAllowed(Session& session, void (*change)(Opened)) {
  session.ReplyOpened([&](Opened opened) {
    opened.setStreamCount(2);
    opened.setContainer("mov,mp4,m4a,3gp,3g2,mj2");
    opened.setCodec("h264");
    change(opened);
  });
  session.GoOn();
}

template <typename Say>
[[noreturn]] void Forever(Say say) {
  for (;;) say();
}

void StormOfNotes(Session& session) {
  constexpr uint32_t kNotes = 400;
  constexpr size_t kWordsOfNote = 8;
  int64_t position = 0;
  Forever([&] {
    session.Reply(
        [&](Reply reply) {
          auto unseen = reply.initUnseen();
          unseen.setEpoch(session.epoch());
          for (auto note : unseen.initFrames(kNotes)) {
            note.setFate(Fate::NOTE);
            note.setSign(schema::Sign::MARKED);
            note.setPosition(position++);
          }
        },
        64 + kNotes * kWordsOfNote);
  });
}

// Reads the requests without advancing the read cursor.
void ReadInSecret(Session& session) {
  const auto [slot, generation] = session.grants().front();
  auto next = generation;
  auto seen = session.host_header()->write_cursor.load();
  Forever([&, slot = slot] {
    session.Reply([&, slot = slot](Reply reply) {
      auto frame = reply.initFrame();
      frame.setEpoch(session.epoch());
      frame.setSlot(slot);
      frame.setGeneration(next++);
      frame.setWidth(kLyingWidth);
      frame.setHeight(kLyingHeight);
      frame.setStride(3 * kLyingWidth);
      frame.setPts(next);
    });
    // Waits until the slot is granted again.
    while (session.host_header()->write_cursor.load() == seen) ::sched_yield();
    seen = session.host_header()->write_cursor.load();
  });
}

const std::map<std::string_view, LyingSession::Lie> kLies = {
    {"hello_none", {Step::kHello, SayNothing}},
    {"hello_version",
     {Step::kHello,
      [](Session& s) { s.SendHello(ipc::kProtocolVersion + 1); }}},
    {"hello_garbage",
     {Step::kHello,
      [](Session& s) { ::send(s.socket(), "garbage!", 8, MSG_NOSIGNAL); }}},
    {"hello_cut_off",
     {Step::kHello,
      [](Session& s) {
        const uint32_t framing[] = {0, 1000};
        ::send(s.socket(), framing, sizeof(framing), MSG_NOSIGNAL);
      }}},
    {"hello_refusal",
     {Step::kHello,
      [](Session& s) {
        capnp::MallocMessageBuilder message;
        auto hello = message.initRoot<schema::Hello>();
        hello.setProtocolVersion(ipc::kProtocolVersion);
        hello.setExhausted("no more of anything");
        (void)ipc::SendMessage(
            s.socket(), message, {},
            ipc::Deadline::After(std::chrono::milliseconds(1000)));
      }}},
    {"hello_descriptor",
     {Step::kHello,
      [](Session& s) {
        capnp::MallocMessageBuilder message;
        message.initRoot<schema::Hello>().setProtocolVersion(
            ipc::kProtocolVersion);
        const int descriptors[] = {STDERR_FILENO};
        (void)ipc::SendMessage(
            s.socket(), message, descriptors,
            ipc::Deadline::After(std::chrono::milliseconds(1000)));
      }}},
    {"hello_closed",
     {Step::kHello,
      [](Session& s) {
        ::close(s.socket());
        for (;;) ::sched_yield();
      }}},

    {"open_silent", {Step::kOpen, SayNothing}},
    {"open_violation",
     {Step::kOpen,
      [](Session&) { ::syscall(SYS_ptrace, 0, 0, nullptr, nullptr); }}},
    {"open_no_pixels",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) {
          o.setWidth(0);
          o.setHeight(0);
        });
      }}},
    {"open_huge",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) {
          o.setWidth(1u << 31);
          o.setHeight(1u << 31);
        });
      }}},
    {"open_above_limit",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) {
          o.setWidth(8000);
          o.setHeight(8001);
        });
      }}},
    {"open_no_time_base",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.getTimeBase().setNumerator(0); });
      }}},
    {"open_stream_beyond",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setStreamIndex(1); });
      }}},
    {"open_stream_negative",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setStreamIndex(-1); });
      }}},
    {"open_allowed",
     {Step::kOpen, [](Session& s) { ClaimAllowed(s, [](Opened) {}); }}},
    {"open_other_container",
     {Step::kOpen,
      [](Session& s) {
        ClaimAllowed(s, [](Opened o) { o.setContainer("avi"); });
      }}},
    {"open_other_codec",
     {Step::kOpen,
      [](Session& s) {
        ClaimAllowed(s, [](Opened o) { o.setCodec("mjpeg"); });
      }}},
    {"open_other_stream",
     {Step::kOpen,
      [](Session& s) {
        ClaimAllowed(s, [](Opened o) { o.setStreamIndex(1); });
      }}},
    {"open_rotation",
     {Step::kOpen,
      [](Session& s) { s.ReplyOpened([](Opened o) { o.setRotation(45); }); }}},
    {"open_other_type",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) {
          o.setElementType(ipc::schema::ElementType::FLOAT32);
        });
      }}},
    {"open_unknown_type",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) {
          o.setElementType(static_cast<ipc::schema::ElementType>(0xfffe));
        });
      }}},
    {"open_not_upright",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setUprightWidth(kLyingWidth + 1); });
      }}},
    {"open_long_codec",
     {Step::kOpen,
      [](Session& s) {
        const std::string name(30'000, '\x1b');
        s.ReplyOpened([&](Opened o) { o.setCodec(name); }, 4000);
        s.GoOn();
      }}},
    {"open_failed_late",
     {Step::kOpen, [](Session& s) { FailWith(s, 9, "too late"); }}},
    {"open_failed_unknown",
     {Step::kOpen, [](Session& s) { FailWith(s, 9999, "who knows"); }}},
    {"open_failed_honestly",
     {Step::kOpen, [](Session& s) { FailWith(s, 3, "cut \x1b[2J off"); }}},
    {"open_other_answer",
     {Step::kOpen,
      [](Session& s) { s.Reply([](Reply r) { r.setPoolAttached(); }); }}},
    {"open_deaf",
     {Step::kOpen,
      [](Session& s) {
        ::close(s.socket());
        s.ReplyOpened();
        Forever([] { ::sched_yield(); });
      }}},
    {"open_index_end",
     {Step::kOpen,
      [](Session& s) { s.Reply([](Reply r) { r.setIndexEnd(); }); }}},
    {"open_frame",
     {Step::kOpen,
      [](Session& s) { s.Reply([](Reply r) { r.initFrame(); }); }}},

    {"pool_silent", {Step::kAttachPool, SayNothing}},
    {"pool_other_answer",
     {Step::kAttachPool,
      [](Session& s) {
        s.TakePool();
        s.Reply([](Reply r) { r.setIndexEnd(); });
        s.GoOn();
      }}},
    {"pool_failed",
     {Step::kAttachPool,
      [](Session& s) {
        s.TakePool();
        FailWith(s, 3, "no room");
        s.GoOn();
      }}},
    {"pool_frame",
     {Step::kAttachPool,
      [](Session& s) {
        s.Reply([](Reply r) {
          auto frame = r.initFrame();
          frame.setWidth(kLyingWidth);
          frame.setHeight(kLyingHeight);
          frame.setStride(3 * kLyingWidth);
        });
      }}},

    {"play_silent", {Step::kPlay, SayNothing}},
    {"play_paused",
     {Step::kPlay,
      [](Session& s) { s.Reply([&](Reply r) { r.setPaused(s.epoch()); }); }}},
    {"play_failed_late",
     {Step::kPlay,
      [](Session& s) {
        s.Reply([&](Reply r) {
          auto failed = r.initFailed();
          failed.setEpoch(s.epoch());
          failed.initFailure().setCode(schema::ErrorCode::DEADLINE_EXCEEDED);
        });
      }}},
    {"play_unasked",
     {Step::kPlay,
      [](Session& s) { s.Reply([](Reply r) { r.setPoolAttached(); }); }}},
    {"play_wakes",
     {Step::kPlay, [](Session& s) { Forever([&] { s.WakeHost(); }); }}},
    {"play_full_eventfd",
     {Step::kPlay,
      [](Session& s) {
        s.FillEventfd();
        s.GoOn();
      }}},
    {"play_always_asleep",
     {Step::kPlay,
      [](Session& s) {
        s.header()->sleeping.store(UINT32_MAX);
        s.GoOn();
      }}},
    {"play_stale_storm",
     {Step::kPlay,
      [](Session& s) {
        Forever([&] { s.Reply([](Reply r) { r.setPaused(0); }, 8); });
      }}},

    {"play_entered_storm",
     {Step::kPlay, [](Session& s) { Forever([&] { s.ReplyEntered(true); }); }}},

    {"ring_cursor_ahead",
     {Step::kPlay,
      [](Session& s) {
        MoveCursor(s, ipc::RingGeometry::kReplyRingBytes + 8);
      }}},
    {"ring_cursor_unaligned",
     {Step::kPlay, [](Session& s) { MoveCursor(s, 4); }}},
    {"ring_cursor_back",
     {Step::kPlay, [](Session& s) { MoveCursor(s, uint64_t(-8)); }}},
    {"ring_length_zero",
     {Step::kPlay, [](Session& s) { s.PublishRecord(0, 64); }}},
    {"ring_length_huge",
     {Step::kPlay, [](Session& s) { s.PublishRecord(0xFFFFFFF0, 64); }}},
    {"ring_length_beyond",
     {Step::kPlay, [](Session& s) { s.PublishRecord(1024, 64); }}},
    {"ring_skip_to_nothing",
     {Step::kPlay, [](Session& s) { s.PublishRecord(0xFFFFFFFF, 8); }}},
    // A pointer to a struct of one data word, one megaword away.
    {"ring_root_outside",
     {Step::kPlay,
      [](Session& s) {
        s.PublishWords({(uint64_t{1} << 32) | (uint64_t{1} << 22)});
      }}},
    // A reply with a union member that does not exist.
    {"ring_unknown_reply",
     {Step::kPlay,
      [](Session& s) {
        s.PublishWords({uint64_t{1} << 32, 0x7777777777});
      }}},
    {"ring_read_ahead",
     {Step::kFrame,
      [](Session& s) {
        s.header()->read_cursor.fetch_add(1 << 20);
        while (s.Publish()) {
        }
      }}},
    {"ring_read_in_secret", {Step::kFrame, ReadInSecret}},

    {"frame_silent", {Step::kFrame, SayNothing}},
    {"frame_spins",
     {Step::kFrame, [](Session&) { Forever([] { ::sched_yield(); }); }}},
    {"frame_slot_beyond",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setSlot(1'000'000); }); }}},
    {"frame_wrong_generation",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setGeneration(f.getGeneration() + 1); });
      }}},
    {"frame_twice",
     {Step::kFrame,
      [](Session& s) {
        static uint32_t slot, generation;
        s.Publish([](Frame f) {
          slot = f.getSlot();
          generation = f.getGeneration();
        });
        s.Publish([](Frame f) {
          f.setSlot(slot);
          f.setGeneration(generation);
        });
      }}},
    {"frame_stride_small",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setStride(3 * kLyingWidth - 1); });
      }}},
    {"frame_stride_overflows",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setStride(0x80000000); }); }}},
    {"frame_stride_beyond",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setStride(4096); }); }}},
    {"frame_other_width",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setWidth(kLyingWidth / 2); });
      }}},
    {"frame_of_the_future",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setEpoch(f.getEpoch() + 1); });
      }}},

    {"entered_not",
     {Step::kPlay,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) { f.setFate(Fate::LOST); });
      }}},
    {"entered_twice",
     {Step::kEntered, [](Session& s) { s.ReplyEntered(false); }}},
    {"entered_elsewhere",
     {Step::kPlay, [](Session& s) { s.ReplyEntered(true); }}},
    {"seek_elsewhere",
     {Step::kSeek,
      [](Session& s) {
        s.Reply([&s](Reply reply) {
          auto entered = reply.initEntered();
          entered.setEpoch(s.epoch());
          entered.setKeyframe(s.position() + 1);
        });
      }}},
    {"unseen_asked_for",
     {Step::kEntered,
      [](Session& s) { s.ReplyUnseen([](Unseen f) { f.setPts(7); }); }}},
    {"unseen_unknown_fate",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) { f.setFate(static_cast<Fate>(99)); });
      }}},
    {"unseen_unknown_sign",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::LOST);
          f.setSign(static_cast<schema::Sign>(99));
        });
      }}},
    {"unseen_note_for_damage",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::LOST);
          f.setSign(schema::Sign::GAP);
        });
      }}},
    {"unseen_damage_for_note",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) { f.setFate(Fate::NOTE); });
      }}},
    {"frame_damaged_by_note",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) {
          f.setDamaged(true);
          f.setSign(schema::Sign::MARKED);
        });
      }}},
    {"unseen_note_storm", {Step::kEntered, StormOfNotes}},
    {"unseen_none",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::LOST);
          f.setCount(0);
        });
      }}},
    {"unseen_beyond_the_file",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::LOST);
          f.setPts(INT64_MIN);
          f.setCount(UINT64_MAX);
        });
      }}},
    {"gap_of_nothing",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::NOT_IN_INDEX);
          f.setCount(0);
        });
      }}},
    {"gap_too_large",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::NOT_IN_INDEX);
          f.setCount(ipc::schema::MOST_FRAMES_OF_GAP + 1);
        });
      }}},
    {"gap_in_a_whole_file",
     {Step::kEntered,
      [](Session& s) {
        s.ReplyUnseen([](Unseen f) {
          f.setFate(Fate::NOT_IN_INDEX);
          f.setDeclaredSize(1);
        });
      }}},
    {"unseen_storm",
     {Step::kEntered,
      [](Session& s) {
        Forever(
            [&] { s.ReplyUnseen([](Unseen f) { f.setFate(Fate::LOST); }); });
      }}},

    {"scan_silent", {Step::kScan, SayNothing}},
    {"scan_part_of_entry", {Step::kScan, [](Session& s) { SendIndex(s, 23); }}},
    {"scan_endless",
     {Step::kScan,
      [](Session& s) {
        Forever([&] { SendIndex(s, 1000 * sizeof(ipc::IndexEntry)); });
      }}},
    // Three frames were published. The host takes a worker for ahead whose
    // claim is one more, and ignores every other claim.
    {"frame_death_ahead_by_one",
     {Step::kFrame,
      [](Session& s) {
        s.header()->decoded = 4;
        Segfault();
      }}},
    {"frame_death_ahead_by_two",
     {Step::kFrame,
      [](Session& s) {
        s.header()->decoded = 5;
        Segfault();
      }}},
    {"frame_death_far_ahead",
     {Step::kFrame,
      [](Session& s) {
        s.header()->decoded = UINT32_MAX;
        Segfault();
      }}},
    {"frame_death_behind",
     {Step::kFrame,
      [](Session& s) {
        s.header()->decoded = 2;
        Segfault();
      }}},
    {"frame_silent_ahead",
     {Step::kFrame, [](Session& s) { s.header()->decoded = 4; }}},

    {"scan_empty_storm",
     {Step::kScan, [](Session& s) { Forever([&] { SendIndex(s, 0); }); }}},
    {"scan_stale_storm",
     {Step::kScan,
      [](Session& s) {
        Forever([&] { s.Reply([](Reply r) { r.setPaused(0); }, 8); });
      }}},
    {"scan_other_answer",
     {Step::kScan,
      [](Session& s) { s.Reply([](Reply r) { r.setPoolAttached(); }); }}},

    {"seek_paused",
     {Step::kSeek,
      [](Session& s) {
        uint32_t answered = 0;
        Forever([&] {
          s.Listen();
          if (s.epoch() == answered) return;
          answered = s.epoch();
          s.ReplyEntered(true);
          s.Reply([&](Reply r) { r.setPaused(answered); });
        });
      }}},
    {"seek_early_frames",
     {Step::kEntered,
      [](Session& s) {
        Forever([&] {
          s.Listen();
          s.Publish([](Frame f) { f.setPts(-1); });
        });
      }}},
};

// The steps at which every death of deaths.h is a lie, for example
// "hello_abort".
constexpr std::pair<std::string_view, Step> kDeadlySteps[] = {
    {"hello_", Step::kHello},     {"open_", Step::kOpen},
    {"pool_", Step::kAttachPool}, {"play_", Step::kPlay},
    {"frame_", Step::kFrame},     {"scan_", Step::kScan},
    {"seek_", Step::kSeek},       {"describe_", Step::kDescribe},
};

}  // namespace

std::optional<LyingSession::Lie> FindLie(std::string_view name) {
  if (const auto found = kLies.find(name); found != kLies.end()) {
    return found->second;
  }
  if (auto lie = FindAudioLie(name)) return lie;
  if (auto lie = FindNativeLie(name)) return lie;
  if (auto lie = FindSizeLie(name)) return lie;
  if (auto lie = FindDrip(name)) return lie;
  if (auto lie = FindWireLie(name)) return lie;
  if (auto lie = FindPixelLie(name)) return lie;
  for (const auto& [prefix, step] : kDeadlySteps) {
    if (const Death death = FindDeath(name, prefix)) {
      return LyingSession::Lie{step, [death](Session&) { death(); }};
    }
  }
  return std::nullopt;
}

}  // namespace bulkhead::tests
