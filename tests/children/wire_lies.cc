// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "ipc/protocol_version.h"
#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Words = std::vector<uint64_t>;

// A pause that is short beside each deadline of a test.
constexpr useconds_t kPause = 20'000;
// One more than a Cap'n Proto reader follows by default.
constexpr int kNested = 65;
// As many elements as a list may claim to have.
constexpr uint64_t kMostElements = (uint64_t{1} << 29) - 1;
constexpr uint64_t kFarPointer = (uint64_t{1} << 32) | 2;  // to segment 1
constexpr uint64_t kCapability = 3;

// The words of a Cap'n Proto pointer to a struct: where the struct is, and the
// sizes of its two sections.
uint64_t PointerToStruct(int64_t words_between, uint64_t data,
                         uint64_t pointers) {
  return (static_cast<uint64_t>(words_between) << 2 & 0xFFFFFFFF) | data << 32 |
         pointers << 48;
}
// A list of elements without a size takes no room in the message.
uint64_t PointerToVoids(uint64_t count) { return 1 | count << 35; }

// Returns the words of the message's only segment.
Words WordsOf(capnp::MessageBuilder& message) {
  const auto segment = message.getSegmentsForOutput()[0].asBytes();
  Words words(segment.size() / sizeof(uint64_t));
  std::memcpy(words.data(), segment.begin(), segment.size());
  return words;
}

// Returns the place of the first pointer of the struct to which the pointer at
// `place` refers.
size_t FirstPointerBehind(const Words& words, size_t place) {
  const uint64_t pointer = words[place];
  const auto between = static_cast<int32_t>(pointer & ~uint64_t{3}) / 4;
  return place + 1 + static_cast<size_t>(between) + (pointer >> 32 & 0xFFFF);
}

// Returns a message with `pointer` as the first pointer of its root.
Words WithPointer(capnp::MessageBuilder& message, uint64_t pointer) {
  Words words = WordsOf(message);
  words[FirstPointerBehind(words, 0)] = pointer;
  return words;
}
// Returns a message whose root refers to itself.
Words WithCycle(capnp::MessageBuilder& message) {
  Words words = WordsOf(message);
  const size_t place = FirstPointerBehind(words, 0);
  words[place] = PointerToStruct(-static_cast<int64_t>(place),
                                 words[0] >> 32 & 0xFFFF, words[0] >> 48);
  return words;
}
// Returns a message whose root refers to a struct in a struct in a struct.
Words WithNesting(capnp::MessageBuilder& message) {
  Words words = WordsOf(message);
  const size_t place = FirstPointerBehind(words, 0);
  words[place] =
      PointerToStruct(static_cast<int64_t>(words.size() - place - 1), 0, 1);
  for (int depth = 1; depth < kNested; ++depth) {
    words.push_back(PointerToStruct(0, 0, 1));
  }
  words.push_back(0);
  return words;
}

void SendPacket(Session& session, Words words) {
  words.insert(words.begin(), words.size() << 32);
  ::send(session.socket(), words.data(), words.size() * sizeof(uint64_t),
         MSG_NOSIGNAL);
}

void SayHello(Session& session, Words change(capnp::MessageBuilder&)) {
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<schema::Hello>();
  hello.setProtocolVersion(ipc::kProtocolVersion);
  hello.setExhausted("no more");
  SendPacket(session, change(message));
}

// Sends a packet that begins with this number of segments, less one.
void SendSegments(Session& session, uint32_t count) {
  std::vector<uint32_t> packet(600, 1);
  packet[0] = count;
  ::send(session.socket(), packet.data(), packet.size() * sizeof(uint32_t),
         MSG_NOSIGNAL);
}

// Sends a correct greeting, a byte at a time.
void TrickleHello(Session& session) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::Hello>().setProtocolVersion(ipc::kProtocolVersion);
  Words words = WordsOf(message);
  words.insert(words.begin(), words.size() << 32);
  const auto* bytes = reinterpret_cast<const char*>(words.data());
  for (size_t i = 0; i < words.size() * sizeof(uint64_t); ++i) {
    ::send(session.socket(), bytes + i, 1, MSG_NOSIGNAL);
    ::usleep(kPause);
  }
}

// Publishes a correct record, a word at a time.
void TrickleRecord(Session& session) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::Reply>().setEndOfStream(session.epoch());
  const Words words = WordsOf(message);
  const uint64_t header = words.size() * sizeof(uint64_t);
  std::memcpy(session.next_record(), &header, sizeof(header));
  std::memcpy(session.next_record() + sizeof(header), words.data(), header);
  for (size_t i = 0; i <= words.size(); ++i) {
    session.header()->write_cursor.fetch_add(sizeof(uint64_t));
    session.WakeHost();
    ::usleep(kPause);
  }
}

// Answers a scan with a message that refers to its entries as `change` says.
void SayIndex(Session& session, Words change(capnp::MessageBuilder&)) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::Reply>().initIndexChunk();
  session.PublishWords(change(message));
}

// Answers a scan with entries that are no bytes.
void SayVoidIndex(Session& session) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::Reply>().initIndexChunk();
  Words words = WordsOf(message);
  words[FirstPointerBehind(words, FirstPointerBehind(words, 0))] =
      PointerToVoids(kMostElements);
  session.PublishWords(words);
}

// Reports as many frames as a list may hold, all of them the default value.
void SayVoidFrames(Session& session) {
  capnp::MallocMessageBuilder message;
  auto unseen = message.initRoot<schema::Reply>().initUnseen();
  unseen.setEpoch(session.epoch());
  unseen.initFrames(1);
  Words words = WordsOf(message);
  words[FirstPointerBehind(words, FirstPointerBehind(words, 0))] =
      PointerToVoids(kMostElements);
  session.PublishWords(words);
}

const std::map<std::string_view, LyingSession::Lie> kWireLies = {
    {"hello_trickle", {Step::kHello, TrickleHello}},
    {"hello_segments",
     {Step::kHello, [](Session& s) { SendSegments(s, 512); }}},
    {"hello_all_segments",
     {Step::kHello, [](Session& s) { SendSegments(s, UINT32_MAX); }}},
    {"hello_cycle", {Step::kHello, [](Session& s) { SayHello(s, WithCycle); }}},
    {"hello_nested",
     {Step::kHello, [](Session& s) { SayHello(s, WithNesting); }}},
    {"hello_twice",
     {Step::kHello,
      [](Session& s) {
        s.SendHello(ipc::kProtocolVersion);
        s.SendHello(ipc::kProtocolVersion);
        s.GoOn();
      }}},
    {"open_twice",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened();
        s.ReplyOpened();
        s.GoOn();
      }}},

    {"ring_trickle", {Step::kPlay, TrickleRecord}},
    {"scan_cycle", {Step::kScan, [](Session& s) { SayIndex(s, WithCycle); }}},
    {"scan_nested",
     {Step::kScan, [](Session& s) { SayIndex(s, WithNesting); }}},
    {"scan_far_segment",
     {Step::kScan,
      [](Session& s) {
        SayIndex(s, [](capnp::MessageBuilder& message) {
          return WithPointer(message, kFarPointer);
        });
      }}},
    {"scan_capability",
     {Step::kScan,
      [](Session& s) {
        SayIndex(s, [](capnp::MessageBuilder& message) {
          return WithPointer(message, kCapability);
        });
      }}},
    {"scan_void_list", {Step::kScan, SayVoidIndex}},
    {"unseen_void_list", {Step::kEntered, SayVoidFrames}},
};

}  // namespace

std::optional<LyingSession::Lie> FindWireLie(std::string_view name) {
  const auto found = kWireLies.find(name);
  if (found == kWireLies.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
