// SPDX-License-Identifier: Apache-2.0
#include "core/control/capability_messages.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clean_text.h"
#include "core/base/status_macros.h"

namespace bulkhead {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxNameBytes = 64;
// The names of the bits of bulkhead_device.outputs.
constexpr const char* kOutputs[] = {"own-memory", "runtime-buffers"};

Status TooMany() {
  return Status(Code::kBackendMisbehaved, "it names too many capabilities");
}

Result<std::vector<std::string>> ReadTexts(
    capnp::List<capnp::Text>::Reader texts_untrusted, TextBudget& budget) {
  if (!budget.Take(texts_untrusted.size())) return TooMany();
  std::vector<std::string> texts;
  for (const auto text_untrusted : texts_untrusted) {
    texts.push_back(CleanText(text_untrusted.cStr(), kMaxNameBytes));
  }
  return texts;
}

size_t TextsIn(const std::vector<StreamCapability>& streams) {
  size_t texts = streams.size();
  for (const StreamCapability& stream : streams) {
    texts +=
        stream.codecs.size() + stream.profiles.size() + stream.formats.size();
  }
  return texts;
}

void Fill(const std::vector<std::string>& texts,
          capnp::List<capnp::Text>::Builder list) {
  for (unsigned i = 0; i < list.size(); ++i) list.set(i, texts[i]);
}

Result<StreamCapability> ReadStream(
    schema::StreamCapability::Reader stream_untrusted, TextBudget& budget) {
  StreamCapability stream{
      .kind = stream_untrusted.getAudio() ? "audio" : "video",
      .max_width = stream_untrusted.getMaxWidth(),
      .max_height = stream_untrusted.getMaxHeight()};
  ASSIGN_OR_RETURN(stream.codecs,
                   ReadTexts(stream_untrusted.getCodecs(), budget));
  ASSIGN_OR_RETURN(stream.profiles,
                   ReadTexts(stream_untrusted.getProfiles(), budget));
  ASSIGN_OR_RETURN(stream.formats,
                   ReadTexts(stream_untrusted.getFormats(), budget));
  return stream;
}

}  // namespace

bool TextBudget::Take(size_t texts) {
  if (texts > left_) return false;
  left_ -= texts;
  return true;
}

Result<DeviceCapabilities> ReadCapabilities(
    schema::Capabilities::Reader capabilities_untrusted,
    const DeviceCapabilities* before, TextBudget& budget) {
  DeviceCapabilities capabilities{.max_sessions =
                                      capabilities_untrusted.getMaxSessions()};
  const auto streams_untrusted = capabilities_untrusted.getStreams();
  if (!budget.Take(streams_untrusted.size())) return TooMany();
  for (const auto stream_untrusted : streams_untrusted) {
    ASSIGN_OR_RETURN(StreamCapability stream,
                     ReadStream(stream_untrusted, budget));
    capabilities.streams.push_back(std::move(stream));
  }
  if (capabilities_untrusted.getAsBefore() && before != nullptr) {
    // Copied texts count too, since there may be many devices.
    if (!budget.Take(TextsIn(before->streams))) return TooMany();
    capabilities.streams = before->streams;
  }
  for (size_t bit = 0; bit < std::size(kOutputs); ++bit) {
    if ((capabilities_untrusted.getOutputs() >> bit & 1) != 0) {
      capabilities.outputs.push_back(kOutputs[bit]);
    }
  }
  return capabilities;
}

void Write(const DeviceCapabilities& capabilities,
           schema::Capabilities::Builder out) {
  auto streams = out.initStreams(capabilities.streams.size());
  for (unsigned i = 0; i < streams.size(); ++i) {
    const StreamCapability& stream = capabilities.streams[i];
    streams[i].setAudio(stream.kind == "audio");
    Fill(stream.codecs, streams[i].initCodecs(stream.codecs.size()));
    Fill(stream.profiles, streams[i].initProfiles(stream.profiles.size()));
    Fill(stream.formats, streams[i].initFormats(stream.formats.size()));
    streams[i].setMaxWidth(stream.max_width);
    streams[i].setMaxHeight(stream.max_height);
  }
  out.setMaxSessions(capabilities.max_sessions);
  uint32_t outputs = 0;
  for (const std::string& output : capabilities.outputs) {
    for (size_t bit = 0; bit < std::size(kOutputs); ++bit) {
      if (output == kOutputs[bit]) outputs |= 1u << bit;
    }
  }
  out.setOutputs(outputs);
}

}  // namespace bulkhead
