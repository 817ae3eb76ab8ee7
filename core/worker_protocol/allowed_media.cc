// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/allowed_media.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status_macros.h"

namespace bulkhead {

AllowedMedia AllowedMedia::Web() {
  return {.containers = {{"mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska",
                          "webm", "ogg", "mp3", "wav", "flac", "aac"}},
          .codecs = {{"h264", "hevc", "vp8", "vp9", "av1", "aac", "mp3", "opus",
                      "vorbis", "flac", "pcm_u8", "pcm_s16le", "pcm_s24le",
                      "pcm_s32le", "pcm_f32le", "pcm_alaw", "pcm_mulaw"}}};
}

}  // namespace bulkhead

namespace bulkhead::worker_protocol {
namespace {

using Names = std::optional<std::vector<std::string>>;

constexpr size_t kMostNames = 256;
constexpr size_t kMostLetters = 64;
// Letters of one list. Two such lists fit into one request.
constexpr size_t kMostLettersTogether = 2048;

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= kMostLetters &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) {
           return (letter >= '0' && letter <= '9') ||
                  (letter >= 'a' && letter <= 'z') ||
                  (letter >= 'A' && letter <= 'Z') || letter == '_' ||
                  letter == '-' || letter == '+' || letter == '.';
         });
}

Status ValidateNames(const char* list, const Names& names) {
  if (!names) return Status();
  const std::string where = "allowed." + std::string(list);
  if (names->size() > kMostNames) {
    return Status(Code::kInvalidArgument,
                  where + " has " + std::to_string(names->size()) +
                      " names; at most " + std::to_string(kMostNames) +
                      " are possible");
  }
  size_t letters = 0;
  for (const std::string& name : *names) {
    letters += name.size();
    if (IsName(name)) continue;
    return Status(Code::kInvalidArgument,
                  where + " has \"" + name +
                      "\", which is no name; write one name for each entry, as "
                      "`bulkhead probe` reports them");
  }
  if (letters <= kMostLettersTogether) return Status();
  return Status(Code::kInvalidArgument,
                where + " has " + std::to_string(letters) +
                    " letters; at most " +
                    std::to_string(kMostLettersTogether) + " are possible");
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// FFmpeg's names have no capital letters.
Names InLowerCase(Names names) {
  if (!names) return names;
  for (std::string& name : *names) {
    for (char& letter : name) {
      if (letter >= 'A' && letter <= 'Z') letter += 'a' - 'A';
    }
  }
  return names;
}

Names BothNames(const Names& some, const Names& others) {
  const Names one = InLowerCase(some);
  const Names other = InLowerCase(others);
  // nullopt allows everything, so the other list decides.
  if (!one || !other) return one ? one : other;
  std::vector<std::string> both;
  for (const std::string& name : *one) {
    if (Has(*other, name)) both.push_back(name);
  }
  return both;
}

size_t WordsOf(const Names& names) {
  size_t words = 8;
  if (!names) return words;
  for (const std::string& name : *names) words += 3 + name.size() / 8;
  return words;
}

void Fill(capnp::List<capnp::Text>::Builder out,
          const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) out.set(i, names[i]);
}

}  // namespace

Status ValidateAllowed(const AllowedMedia& allowed) {
  RETURN_IF_ERROR(ValidateNames("containers", allowed.containers));
  return ValidateNames("codecs", allowed.codecs);
}

AllowedMedia Both(const AllowedMedia& one, const AllowedMedia& other) {
  return {.containers = BothNames(one.containers, other.containers),
          .codecs = BothNames(one.codecs, other.codecs)};
}

size_t AllowedWords(const AllowedMedia& allowed) {
  return WordsOf(allowed.containers) + WordsOf(allowed.codecs);
}

void WriteAllowed(const AllowedMedia& allowed,
                  ipc::schema::AllowedMedia::Builder out) {
  if (allowed.containers) {
    out.setContainersAreListed(true);
    Fill(out.initContainers(allowed.containers->size()), *allowed.containers);
  }
  if (allowed.codecs) {
    out.setCodecsAreListed(true);
    Fill(out.initCodecs(allowed.codecs->size()), *allowed.codecs);
  }
}

Status CheckContainer(const AllowedMedia& allowed, std::string_view container) {
  if (!allowed.containers) return Status();
  for (size_t begin = 0; begin <= container.size();) {
    const size_t end = std::min(container.find(',', begin), container.size());
    if (Has(*allowed.containers, container.substr(begin, end - begin))) {
      return Status();
    }
    begin = end + 1;
  }
  return Status(Code::kBackendMisbehaved,
                "it opened a container that is not allowed");
}

Status CheckOpened(const AllowedMedia& allowed, std::string_view container,
                   std::string_view codec) {
  RETURN_IF_ERROR(CheckContainer(allowed, container));
  if (!allowed.codecs || Has(*allowed.codecs, codec)) return Status();
  return Status(Code::kBackendMisbehaved,
                "it opened a stream of a codec that is not allowed");
}

}  // namespace bulkhead::worker_protocol
