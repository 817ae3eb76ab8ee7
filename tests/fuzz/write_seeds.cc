// SPDX-License-Identifier: Apache-2.0
//
// Writes valid messages of the protocols, from which the fuzzers of messages
// start, to a copy of tests/fuzz/corpus:
//
//     bazel run //tests/fuzz:write_seeds -- "$PWD/tests/fuzz/corpus"
//
// Run it again when a schema has changed so much that the old seeds are no
// longer understood.

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "ipc/index_entry.h"
#include "ipc/protocol_version.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/schema/types.capnp.h"

namespace {

namespace schema = bulkhead::ipc::schema;
using bulkhead::ipc::IndexEntry;

std::string g_corpus;

void WriteSeed(const std::string& name, const std::string& bytes) {
  std::ofstream file(g_corpus + "/" + name, std::ios::binary);
  file << bytes;
  if (!file.flush()) std::fprintf(stderr, "cannot write %s\n", name.c_str());
}

// Returns the only segment of a message, as it lies in a ring.
std::string SegmentOf(capnp::MessageBuilder& message) {
  const auto segments = message.getSegmentsForOutput();
  const auto bytes = segments[0].asBytes();
  return std::string(reinterpret_cast<const char*>(bytes.begin()),
                     bytes.size());
}

// The replies of one worker, as the fuzzer `replies` takes them.
class Replies {
 public:
  explicit Replies(char asked) : bytes_(1, asked) {}

  template <typename Fill>
  Replies& Add(const Fill& fill) {
    capnp::MallocMessageBuilder message(4096);
    fill(message.initRoot<schema::Reply>());
    const std::string segment = SegmentOf(message);
    const uint64_t header = segment.size();
    bytes_.append(reinterpret_cast<const char*>(&header), sizeof header);
    bytes_ += segment;
    return *this;
  }
  void Write(const std::string& name) const {
    WriteSeed("replies/" + name, bytes_);
  }

 private:
  std::string bytes_;
};

constexpr char kRgb = 0;
constexpr char kNative = 1;
constexpr char kOwnSizes = 2;
constexpr char kFloats = 4;
constexpr char kMapped = 8;

void FillOpened(schema::Opened::Builder opened, bool floats = false,
                const char* format = "yuv420p") {
  opened.setStreamCount(2);
  opened.setThreads(1);
  opened.setCodec("h264");
  opened.setPixelFormat(format);
  opened.setContainer("matroska,webm");
  opened.setWidth(16);
  opened.setHeight(8);
  opened.setUprightWidth(16);
  opened.setUprightHeight(8);
  opened.setRotation(90);
  opened.initTimeBase().setNumerator(1);
  opened.getTimeBase().setDenominator(1000);
  opened.initAverageFrameRate().setNumerator(25);
  opened.getAverageFrameRate().setDenominator(1);
  opened.initSampleAspectRatio().setNumerator(4);
  opened.getSampleAspectRatio().setDenominator(3);
  opened.setFrameCountFromHeader(3);
  opened.setDurationFromHeader(120);
  opened.setStartFromHeader(0);
  opened.setBitRate(1000);
  opened.setElementType(floats ? schema::ElementType::FLOAT32
                               : schema::ElementType::UINT8);
}

void FillFrame(schema::PublishedFrame::Builder frame, uint32_t slot,
               uint32_t generation, uint32_t stride) {
  frame.setEpoch(1);
  frame.setSlot(slot);
  frame.setGeneration(generation);
  frame.setWidth(16);
  frame.setHeight(8);
  frame.setStride(stride);
  frame.setPts(40);
  frame.setDuration(40);
  frame.setKeyframe(true);
}

void WriteFrames() {
  const auto opened = [](auto reply) { FillOpened(reply.initOpened()); };
  const auto frame = [](uint32_t slot, uint32_t generation, uint32_t stride) {
    return [=](auto reply) {
      FillFrame(reply.initFrame(), slot, generation, stride);
    };
  };
  Replies(kRgb)
      .Add(opened)
      .Add(frame(0, 1, 64))
      .Add(frame(1, 1, 64))
      .Add(frame(0, 2, 64))
      .Write("rgb");
  Replies(kRgb | kMapped).Add(opened).Add(frame(2, 1, 48)).Write("mapped");
  Replies(kFloats)
      .Add([](auto reply) { FillOpened(reply.initOpened(), true); })
      .Add(frame(0, 1, 192))
      .Write("floats");
  Replies(kNative)
      .Add(opened)
      .Add([](auto reply) {
        FillFrame(reply.initFrame(), 0, 1, 128);
        reply.getFrame().initFacts().setInterlaced(true);
        reply.getFrame().getFacts().setRange(1);
      })
      .Write("native");
  Replies(kOwnSizes)
      .Add(opened)
      .Add(frame(0, 1, 64))
      .Add([](auto reply) {
        auto needs = reply.initNeedsPool();
        needs.setEpoch(1);
        needs.setWidth(64);
        needs.setHeight(64);
      })
      .Add([](auto reply) {
        FillFrame(reply.initFrame(), 0, 1, 192);
        reply.getFrame().setWidth(64);
        reply.getFrame().setHeight(64);
      })
      .Write("own_sizes");
  Replies(kOwnSizes | kNative)
      .Add(opened)
      .Add([](auto reply) {
        auto needs = reply.initNeedsPool();
        needs.setWidth(64);
        needs.setHeight(64);
        needs.setPixelFormat("rgb24");
      })
      .Write("own_formats");
}

void WriteIndex() {
  const IndexEntry entries[] = {{0, 40, 48, 7, 1, 0, 0, 0},
                                {80, 40, 90, 0, 0, 0, 0, 0},
                                {40, 40, 120, 0, 0, 1, 1, 0},
                                {120, 0, -1, 7, 1, 0, 0, 0}};
  Replies(kRgb)
      .Add([](auto reply) { FillOpened(reply.initOpened()); })
      .Add([&](auto reply) {
        auto bytes = reply.initIndexChunk().initEntries(sizeof entries);
        std::memcpy(bytes.begin(), entries, sizeof entries);
      })
      .Add([](auto reply) { reply.setIndexEnd(); })
      .Write("index");
}

void WriteSamples() {
  Replies(kRgb)
      .Add([](auto reply) {
        auto opened = reply.initOpenedAudio();
        opened.setStreamCount(1);
        opened.setCodec("aac");
        opened.setContainer("mov");
        opened.setSampleFormat("fltp");
        opened.setChannelLayout("stereo");
        opened.setSampleRate(48000);
        opened.setChannelCount(2);
        opened.setPublishedRate(48000);
        opened.setPublishedChannels(2);
        opened.initTimeBase().setNumerator(1);
        opened.getTimeBase().setDenominator(48000);
        opened.setDurationFromHeader(96000);
        opened.setBitRate(128000);
      })
      .Add([](auto reply) {
        auto samples = reply.initSamples();
        samples.setEpoch(1);
        samples.setSlot(0);
        samples.setGeneration(1);
        samples.setCount(512);
      })
      .Add([](auto reply) {
        auto lost = reply.initLostSamples();
        lost.setFirst(512);
        lost.setCount(100);
        lost.setWords("the packet is cut off");
      })
      .Write("samples");
}

void WriteDescription() {
  const auto stream = [](auto reply) {
    auto stream = reply.initDescribed().initStream();
    stream.initTimeBase().setNumerator(1);
    stream.getTimeBase().setDenominator(1000);
    stream.setStart(0);
    stream.setDuration(5000);
    stream.setBitRate(1000);
    stream.getContent().setScanned(true);
    stream.getContent().setPacketCount(125);
    stream.getContent().setBegin(0);
    stream.getContent().setEnd(5000);
    stream.setLanguage("eng");
    return stream;
  };
  Replies(kRgb)
      .Add([](auto reply) { reply.initDescribed().setScanned(1000); })
      .Add([](auto reply) {
        auto container = reply.initDescribed().initContainer();
        container.setFormat("matroska,webm");
        container.setTitle("A title");
        container.setStreamCount(2);
        container.setDuration(5'000'000);
        container.setBestVideoStream(0);
        container.setBestAudioStream(1);
      })
      .Add([&](auto reply) {
        auto video = stream(reply);
        video.setKind(schema::StreamDescription::Kind::VIDEO);
        video.setCodec("vp9");
        video.setWidth(64);
        video.setHeight(48);
        video.setRotation(180);
        video.setPixelFormat("yuv420p");
        video.initAverageFrameRate().setNumerator(25);
        video.getAverageFrameRate().setDenominator(1);
      })
      .Add([&](auto reply) {
        auto audio = stream(reply);
        audio.setIndex(1);
        audio.setKind(schema::StreamDescription::Kind::AUDIO);
        audio.setCodec("opus");
        audio.setSampleFormat("fltp");
        audio.setSampleRate(48000);
        audio.setChannels(2);
        audio.setChannelLayout("stereo");
      })
      .Write("description");
}

void WriteOtherReplies() {
  Replies(kRgb)
      .Add([](auto reply) {
        auto failure = reply.initFailed().initFailure();
        failure.setCode(schema::ErrorCode::BAD_INPUT);
        failure.setMessage("no such stream");
      })
      .Add([](auto reply) {
        auto failure = reply.initFailed().initFailure();
        failure.setCode(schema::ErrorCode::BACKEND_MISBEHAVED);
        failure.setMessage("decode() gave a picture without rows");
      })
      .Add([](auto reply) {
        reply.initRead().setOffset(500);
        reply.getRead().setSerial(1);
      })
      .Add([](auto reply) {
        auto unseen = reply.initUnseen();
        unseen.setWords("cannot decode");
        unseen.initFrames(1)[0].setFate(schema::UnseenFrame::Fate::LOST);
      })
      .Add([](auto reply) { reply.initEntered().setKeyframe(40); })
      .Add([](auto reply) { reply.setPaused(1); })
      .Add([](auto reply) { reply.setEndOfStream(1); })
      .Write("others");
}

// Returns a message as it travels in one packet.
template <typename Root, typename Fill>
std::string Packet(const Fill& fill) {
  capnp::MallocMessageBuilder message(4096);
  fill(message.initRoot<Root>());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  return std::string(reinterpret_cast<const char*>(bytes.begin()),
                     bytes.size());
}

void FillNote(schema::CrashNote::Builder note) {
  note.setSignal(11);
  note.setAddress(0x1000);
  note.setFrameCount(2);
  const std::string place = "libacme.so+0x1f30 (acme_decode+0x12)";
  for (auto frame : note.initFrames(3)) {
    auto bytes = frame.initPlace(48);
    std::copy(place.begin(), place.end(), bytes.begin());
  }
}

void FillFailure(schema::Failure::Builder failure) {
  failure.setCode(schema::ErrorCode::RESOURCE_EXHAUSTED);
  failure.setMessage("no memory is left");
}

void WriteNotes() {
  WriteSeed("crash_records/note",
            "n" + Packet<schema::CrashNote>([](auto note) { FillNote(note); }));
  WriteSeed("crash_records/note_device_lost",
            "n" + Packet<schema::CrashNote>([](auto note) {
              FillNote(note);
              note.setDeviceLost(true);
            }));
}

void FillDevice(schema::Device::Builder device, const char* name) {
  device.setName(name);
  device.setDescription("A card");
  auto capabilities = device.initCapabilities();
  capabilities.setOutputs(3);
  capabilities.setMaxSessions(4);
  auto stream = capabilities.initStreams(1)[0];
  stream.setAudio(true);
  stream.initCodecs(2).set(0, "aac");
  stream.initProfiles(1).set(0, "LC");
  stream.initFormats(1).set(0, "fltp");
}

void FillExit(schema::ExitReport::Builder exit) {
  exit.setKind(schema::ExitReport::Kind::VIOLATION);
  exit.setValue(31);
  exit.setSyscallTrusted(true);
  exit.setSyscallNumber(41);
  exit.setSyscall("socket");
  exit.setArchitecture("x86_64");
  exit.setStage(2);
}

void WriteReplies() {
  const auto write = [](const char* name, const auto& fill) {
    WriteSeed(std::string("control/reply_") + name,
              "r" + Packet<schema::HostReply>(fill));
  };
  write("failed", [](auto reply) { FillFailure(reply.initFailed()); });
  write("loaded", [](auto reply) {
    auto device = reply.initLoaded(1)[0];
    device.setName("acme:0");
    device.setBackend("acme");
    device.initCapabilities().initStreams(1)[0].initCodecs(1).set(0, "h264");
  });
  write("exit", [](auto reply) {
    FillExit(reply.initExit().initReport());
    FillNote(reply.getExit().initClaim());
  });
  write("poisoned", [](auto reply) {
    auto poisoned = reply.initPoisoned();
    poisoned.setDeaths(3);
    poisoned.initPosition().setFrame(37);
    FillExit(poisoned.initLast());
  });
  write("events", [](auto reply) {
    auto event = reply.initEvents().initEvents(1)[0];
    event.setNumber(1);
    event.setKind(schema::Event::Kind::WORKER_ENDED);
    event.setBackend("acme");
    event.setText("it died");
    FillExit(event.initExit());
  });
  write("backends", [](auto reply) {
    auto backends = reply.initBackends();
    auto backend = backends.initBackends(1)[0];
    backend.setName("acme");
    backend.setState(schema::Backend::State::READY);
    backend.initDevices(1)[0].setName("acme:0");
    backend.initSessionPids(1).set(0, 7);
    backend.initAsked(1).set(0, "read=/usr/share/acme");
    backends.initDiagnostics(1)[0].setMessage("left out");
    backends.initPlaces(1)[0].setPath("/usr/lib/bulkhead");
  });
  write("sandbox", [](auto reply) {
    auto gap = reply.initSandbox().initGaps(1)[0];
    gap.setMissing("cgroups");
    gap.setEvidence("no cgroup2");
  });
}

void WriteControl() {
  WriteSeed("control/hello",
            "h" + Packet<schema::Hello>([](auto hello) {
              hello.setProtocolVersion(bulkhead::ipc::kProtocolVersion);
              hello.setExhausted("threads");
            }));
  const auto list = [](const char* name, const auto& fill) {
    WriteSeed(std::string("control/devices_") + name,
              "d" + Packet<schema::DeviceList>(fill));
  };
  list("two", [](auto devices) {
    auto both = devices.initDevices(2);
    FillDevice(both[0], "acme");
    FillDevice(both[1], "other");
    both[1].getCapabilities().setAsBefore(true);
  });
  list("failed", [](auto devices) { FillFailure(devices.initFailed()); });
  list("crashed", [](auto devices) { FillNote(devices.initCrashed()); });
  list("not_reserved",
       [](auto devices) { FillDevice(devices.initDevices(1)[0], "cpu"); });
  WriteReplies();
}

// Returns the step of a script that sends the message.
template <typename Root, typename Fill>
std::string StepOf(char who, const Fill& fill) {
  const std::string packet = Packet<Root>(fill);
  return std::string({who, static_cast<char>(packet.size() >> 8),
                      static_cast<char>(packet.size())}) +
         packet;
}

void WriteZygote() {
  using Zygote = schema::ZygoteEvent;
  using Reaper = schema::ReaperEvent;
  const std::string started =
      StepOf<Reaper>('R', [](auto event) { event.setStarted(2); });
  const auto cloned = [](uint64_t ticket, int pid) {
    return StepOf<Zygote>('z', [=](auto event) {
      event.initCloned().setTicket(ticket);
      event.getCloned().setPid(pid);
    });
  };
  const auto exited = [](int pid) {
    return StepOf<Reaper>('r', [=](auto event) {
      event.initExited().setPid(pid);
      event.getExited().setWaitStatus(11);
    });
  };
  const std::string watched =
      StepOf<Reaper>('R', [](auto event) { event.setWatched(3); });
  WriteSeed("zygote/worker", started + "c" + cloned(1, 3) + watched + "k" +
                                 exited(3) + "f" + exited(2));
  WriteSeed("zygote/refused",
            started + "cc" + cloned(2, 4) +
                StepOf<Reaper>('r', [](auto event) { event.setRefused(4); }));
  WriteSeed("zygote/starved",
            started + "c" + cloned(1, 3) + StepOf<Reaper>('r', [](auto event) {
              event.setStarved(3);
            }) + exited(3));
  WriteSeed("zygote/clone_failed",
            started + "c" + StepOf<Zygote>('z', [](auto event) {
              event.initCloneFailed().setTicket(1);
              FillFailure(event.getCloneFailed().initFailure());
            }));
  WriteSeed("zygote/ready", started + StepOf<Zygote>('z', [](auto event) {
                              event.setReady();
                            }));
  WriteSeed("zygote/failed", StepOf<Zygote>('z', [](auto event) {
                               FillFailure(event.initFailed());
                             }) + started);
  WriteSeed("zygote/crashed", started + StepOf<Zygote>('z', [](auto event) {
                                FillNote(event.initCrashed());
                              }) + exited(2));
  WriteSeed("zygote/locked",
            StepOf<Zygote>('Z', [](auto event) { event.setLocked(); }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: write_seeds DIRECTORY\n");
    return 2;
  }
  g_corpus = argv[1];
  WriteFrames();
  WriteIndex();
  WriteSamples();
  WriteDescription();
  WriteOtherReplies();
  WriteNotes();
  WriteControl();
  WriteZygote();
  return 0;
}
