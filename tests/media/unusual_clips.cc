// SPDX-License-Identifier: Apache-2.0
#include "tests/media/unusual_clips.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

struct Shorthand {
  std::string_view token;
  std::string_view words;
};

constexpr Shorthand kShorthands[] = {
    {"%v",
     "-f lavfi -i "
     "testsrc2=size=96x64:rate=25:duration=1.2,format=yuv420p"},
    {"%c",
     "-f lavfi -i "
     "testsrc2=size=176x144:rate=25:duration=1.2,format=yuv420p"},
    {"%a",
     "-f lavfi -i "
     "aevalsrc=0.4*sin(t*900*(1+t/9))+0.2*(random(0)-0.5)|"
     "0.3*sin(t*333)+0.1*random(1):s=44100:d=1.2"},
    {"%h",
     "-c:v libx265 -preset ultrafast -x265-params log-level=none:pools=none"},
};

std::string Expand(std::string recipe) {
  for (const Shorthand& shorthand : kShorthands) {
    for (size_t at = 0;
         (at = recipe.find(shorthand.token, at)) != std::string::npos;
         at += shorthand.words.size()) {
      recipe.replace(at, shorthand.token.size(), shorthand.words);
    }
  }
  return recipe;
}

std::string BytesOf(const std::string& hex) {
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(
        static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

// Writes the clips and bytes that the words name one after the other.
Status Join(std::istream& words, const std::string& path) {
  std::string joined;
  for (std::string word; words >> word;) {
    if (word[0] == '#') {
      joined += BytesOf(word.substr(1));
      continue;
    }
    const auto part = MakeUnusualClip(word.substr(1));
    if (!part) return part.error();
    std::ifstream file(*part, std::ios::binary);
    joined.append(std::istreambuf_iterator<char>(file), {});
  }
  std::ofstream(path, std::ios::binary) << joined;
  return Status();
}

Status Encode(std::istream& words, const std::string& path) {
  std::vector<std::string> arguments;
  bool encodes = false;
  for (std::string word; words >> word;) {
    encodes = encodes || word == "lavfi";
    if (word[0] != '@') {
      arguments.push_back(word);
      continue;
    }
    const auto input = MakeUnusualClip(word.substr(1));
    if (!input) return input.error();
    arguments.insert(arguments.end(), {"-i", *input});
  }
  if (encodes) arguments.insert(arguments.end(), {"-threads", "1"});
  arguments.push_back(path);
  const ProgramResult made = RunFfmpeg(arguments);
  if (!made.started) {
    return Status(Code::kNotFound, "there is no ffmpeg on this machine");
  }
  std::error_code error;
  if (made.exit_code == 0 && fs::file_size(path, error) > 0 && !error) {
    return Status();
  }
  fs::remove(path, error);
  return Status(Code::kUnsupported, made.Describe());
}

// Returns whether the recipe, or a clip's that it takes, has one of the
// tokens.
bool Uses(const std::string& recipe, const std::vector<std::string>& tokens) {
  std::istringstream words(recipe);
  const std::vector<UnusualClip> clips = UnusualClips();
  for (std::string word; words >> word;) {
    if (std::find(tokens.begin(), tokens.end(), word) != tokens.end()) {
      return true;
    }
    if (word[0] != '@') continue;
    for (const UnusualClip& clip : clips) {
      if (word.substr(1) == clip.file && Uses(clip.recipe, tokens)) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<UnusualClip> UnusualClips() {
  std::vector<UnusualClip> clips;
  for (const auto& table : {UnusualH26xClips(), UnusualVideoClips(),
                            UnusualContainerClips(), UnusualSoundClips()}) {
    clips.insert(clips.end(), table.begin(), table.end());
  }
  return clips;
}

bool HasPictures(const UnusualClip& clip) {
  return Uses(clip.recipe, {"%v", "%c"});
}

bool HasSound(const UnusualClip& clip) { return Uses(clip.recipe, {"%a"}); }

Result<std::string> MakeUnusualClip(const std::string& file) {
  const std::string path = TemporaryDirectory() + "/unusual_" + file;
  if (fs::exists(path)) return path;
  const std::vector<UnusualClip> clips = UnusualClips();
  const auto clip = std::find_if(
      clips.begin(), clips.end(),
      [&file](const UnusualClip& row) { return row.file == file; });
  if (clip == clips.end()) {
    return Status(Code::kInvalidArgument, "there is no clip " + file);
  }
  std::istringstream words(Expand(clip->recipe));
  std::string first;
  words >> first;
  const bool joins = first == "cat";
  if (!joins) words.seekg(0);
  const Status made = joins ? Join(words, path) : Encode(words, path);
  if (!made.ok()) return made.WithContext("this ffmpeg cannot make " + file);
  return path;
}

}  // namespace bulkhead::tests
