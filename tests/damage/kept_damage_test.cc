// SPDX-License-Identifier: Apache-2.0
//
// Damages a stream and looks at what is said of it: one packet is taken out (in
// MPEG-TS the transport packets that hold it), zeroed in part, or has flipped
// bits. No picture that differs from the intact file's is delivered without an
// error or a note, but where IsKnownWrong(). Prints a row of a table for each
// codec, container and kind of damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

struct Kept {
  std::string file;
  std::vector<std::string> encoder;
};

// Returns each codec in each container that takes it.
std::vector<Kept> Clips() {
  const struct {
    std::string name;
    std::vector<std::string> encoder;
    bool transported;
  } codecs[] = {
      {"h264", {"-c:v", "libx264", "-g", "15", "-bf", "3"}, true},
      {"hevc",
       {"-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
        "keyint=15:bframes=3:log-level=none:pools=none"},
       true},
      {"vp9",
       {"-c:v", "libvpx-vp9", "-g", "15", "-auto-alt-ref", "1",
        "-lag-in-frames", "16", "-cpu-used", "5"},
       false},
      {"av1", {"-c:v", "libsvtav1", "-g", "15", "-preset", "10"}, false},
      {"mpeg2", {"-c:v", "mpeg2video", "-g", "12", "-bf", "2"}, true},
      {"mpeg4", {"-c:v", "mpeg4", "-g", "12", "-bf", "2"}, true},
  };
  std::vector<Kept> clips;
  for (const auto& codec : codecs) {
    for (const char* container : {".mp4", ".mkv", ".ts"}) {
      if (container == std::string(".ts") && !codec.transported) continue;
      clips.push_back({codec.name + container, codec.encoder});
    }
  }
  return clips;
}

enum class Damage { kTakenOut, kZeroed, kFlipped };
constexpr Damage kDamages[] = {Damage::kTakenOut, Damage::kZeroed,
                               Damage::kFlipped};
const char* const kDamageNames[] = {"taken out", "zeroed", "flipped"};

// Returns whether wrong pictures are delivered as sound and without a note: the
// codec has no checksum, the bits decode to other pictures, and libavcodec says
// nothing of it.
bool IsKnownWrong(const std::string& file, Damage damage) {
  return damage != Damage::kTakenOut && !file.starts_with("mpeg");
}

// Told counts what was reported and delivered of the files of one kind of
// damage.
struct Told {
  std::set<std::string> errors;
  std::set<std::string> notes;
  size_t files = 0;
  size_t frames = 0;
  size_t wrong_with_note = 0;     // pictures, the file has a note
  size_t wrong_with_nothing = 0;  // pictures, the file has none
};

std::string Joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

using Hashes = std::map<int64_t, std::string>;

class KeptDamage : public testing::TestWithParam<Kept> {
 protected:
  void SetUp() override {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    clip_ = TemporaryDirectory() + "/clip_" + GetParam().file;
    std::vector<std::string> words = {
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2"};
    words.insert(words.end(), GetParam().encoder.begin(),
                 GetParam().encoder.end());
    words.insert(words.end(), {"-pix_fmt", "yuv420p", "-threads", "1", clip_});
    const ProgramResult made = RunFfmpeg(words);
    if (made.exit_code != 0) {
      GTEST_SKIP() << "this ffmpeg cannot make " << GetParam().file << ": "
                   << made.Describe();
    }
    intact_ = CopyWithout(std::nullopt);
    bytes_ = ReadBytes(intact_);
    packets_ = PacketsOf(intact_);
  }

  // Copies the clip without a packet.
  std::string CopyWithout(std::optional<size_t> packet) const {
    const std::string path = TemporaryDirectory() +
                             (packet ? "/lacks_" : "/intact_") +
                             GetParam().file;
    std::vector<std::string> words = {"-i", clip_, "-c", "copy"};
    if (packet) {
      words.insert(words.end(), {"-bsf:v", "noise=amount=0:drop=eq(n\\," +
                                               std::to_string(*packet) + ")"});
    }
    words.push_back(path);
    const ProgramResult made = RunFfmpeg(words);
    EXPECT_EQ(made.exit_code, 0) << made.Describe();
    return path;
  }

  std::string TakeOut(size_t packet) const {
    if (!intact_.ends_with(".ts")) return CopyWithout(packet);
    return WriteClip("lacks_" + GetParam().file,
                     WithoutTransportPackets(bytes_, packets_.at(packet),
                                             packets_.at(packet + 1)));
  }

  // Overwrites the middle of a packet, or flips eight bits of it.
  std::string Overwrite(Damage damage, size_t packet) const {
    const std::vector<size_t> all =
        PositionsOf(intact_, bytes_, packets_, packet);
    const auto third = static_cast<std::ptrdiff_t>(all.size() / 3);
    const std::vector<size_t> places(all.begin() + third, all.end() - third);
    std::string bytes = bytes_;
    std::mt19937 random(static_cast<uint32_t>(packet));
    if (damage == Damage::kZeroed) {
      for (const size_t place : places) bytes[place] = 0;
    } else {
      for (int i = 0; i < 8; ++i) {
        bytes[places[random() % places.size()]] ^=
            static_cast<char>(1 << (random() % 8));
      }
    }
    return WriteClip("damaged_" + GetParam().file, bytes);
  }

  // Returns the packets to damage: keyframes and what refers to them, neither
  // the first one, from which the size is taken, nor the last.
  std::vector<size_t> Places() const {
    std::vector<size_t> places = {1, packets_.size() / 2};
    for (size_t i = 4; i + 12 < packets_.size(); ++i) {
      if (packets_[i].keyframe) {
        places.insert(places.end(), {i, i + 1, i + 3});
        break;
      }
    }
    return places;
  }

  VideoDecoder Open(const std::string& path, OnCorrupt on_corrupt) {
    return host_->OpenVideo(path, {.device = "cpu", .on_corrupt = on_corrupt})
        .value();
  }

  size_t Check(const std::string& path, const Hashes& intact, Told& told);
  void CheckAccess(const std::string& path);

  std::unique_ptr<Host> host_;
  std::string clip_;    // as ffmpeg has made it
  std::string intact_;  // a copy of it, as those that lack a packet are
  std::string bytes_;   // of intact_
  std::vector<FilePacket> packets_;
};

// Decodes a damaged file on after each error. Returns the number of wrong
// pictures.
size_t KeptDamage::Check(const std::string& path, const Hashes& intact,
                         Told& told) {
  VideoDecoder video = Open(path, OnCorrupt::kError);
  size_t wrong = 0;
  for (size_t errors = 0;; ++errors) {
    const StraightPass pass = DecodeStraight(video);
    for (const SeenFrame& frame : pass.frames) {
      const auto sound = intact.find(frame.pts.value_or(INT64_MIN));
      wrong += sound == intact.end() || sound->second != frame.hash;
    }
    told.frames += pass.frames.size();
    if (pass.failure.ok()) break;
    EXPECT_EQ(pass.failure.code(), Code::kBadInput) << pass.failure;
    EXPECT_LE(errors, intact.size()) << "the pass does not end";
    if (HasFailure()) break;
  }
  bool noted = false;
  for (const DamagedRange& range : video.damage()) {
    const bool is_note = range.kind == DamageKind::kNote;
    (is_note ? told.notes : told.errors).insert(DamageSignName(range.sign));
    noted = noted || is_note;
  }
  (noted ? told.wrong_with_note : told.wrong_with_nothing) += wrong;
  ++told.files;
  return wrong;
}

// Frames of a damaged file are as in a pass, the last ones first.
void KeptDamage::CheckAccess(const std::string& path) {
  VideoDecoder straight = Open(path, OnCorrupt::kSkip);
  const StraightPass pass = DecodeStraight(straight);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  std::map<uint64_t, SeenFrame> shown;
  for (const SeenFrame& frame : pass.frames) shown[frame.index] = frame;
  VideoDecoder video = Open(path, OnCorrupt::kSkip);
  const auto count = video.FrameCount();
  ASSERT_TRUE(count) << count.error();
  for (uint64_t i = *count; i-- > 0;) {
    const auto frame = video.FrameAt(static_cast<int64_t>(i));
    EXPECT_EQ(bool{frame}, shown.contains(i)) << i;
    if (frame && shown.contains(i)) {
      EXPECT_EQ(Describe(See(*frame)), Describe(shown[i]));
    }
  }
}

TEST_P(KeptDamage, NoWrongPictureIsDeliveredInSilence) {
  VideoDecoder sound = Open(intact_, OnCorrupt::kError);
  const StraightPass pass = DecodeStraight(sound);
  ASSERT_TRUE(pass.failure.ok()) << pass.failure;
  ASSERT_TRUE(DamageOf(sound).empty());
  ASSERT_EQ(pass.frames.size(), 50u);
  Hashes intact;
  for (const SeenFrame& frame : pass.frames) {
    intact[frame.pts.value()] = frame.hash;
  }
  const std::vector<size_t> places = Places();
  ASSERT_EQ(places.size(), 5u);
  for (const Damage damage : kDamages) {
    const char* const name = kDamageNames[static_cast<size_t>(damage)];
    SCOPED_TRACE(name);
    Told told;
    for (const size_t place : places) {
      SCOPED_TRACE("packet " + std::to_string(place));
      const bool taken_out = damage == Damage::kTakenOut;
      const std::string path =
          taken_out ? TakeOut(place) : Overwrite(damage, place);
      const size_t wrong = Check(path, intact, told);
      // A seek passes over what is wrong in silence.
      if (taken_out && wrong == 0) CheckAccess(path);
    }
    std::printf(
        "%-9s %-9s: %zu files, errors: %s; notes: %s; of %zu pictures %zu are "
        "wrong with a note, %zu without\n",
        GetParam().file.c_str(), name, told.files, Joined(told.errors).c_str(),
        Joined(told.notes).c_str(), told.frames, told.wrong_with_note,
        told.wrong_with_nothing);
    if (IsKnownWrong(GetParam().file, damage)) {
      EXPECT_GT(told.wrong_with_nothing, 0u) << "no longer wrong in silence";
    } else {
      EXPECT_EQ(told.wrong_with_nothing, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Clips, KeptDamage, testing::ValuesIn(Clips()),
                         [](const auto& clip) {
                           std::string name = clip.param.file;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace bulkhead::tests
