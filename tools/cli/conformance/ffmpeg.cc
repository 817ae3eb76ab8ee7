// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/ffmpeg.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>

#include "core/base/status_macros.h"
#include "tools/cli/demo/program.h"
#include "tools/cli/demo/sample_clip.h"

namespace bulkhead::cli::conformance {
namespace {

constexpr std::chrono::minutes kLimit{10};

Status Run(const Words& command, const Words& arguments) {
  const Status status = demo::RunProgram(Joined(command, arguments), kLimit);
  if (status.code() != Code::kNotFound) return status;
  return Status(Code::kNotFound,
                "the ffmpeg program, which makes and decodes the clips that "
                "the backend is compared with, is not installed; on Debian: "
                "apt install ffmpeg");
}

// Returns the versions of the programs and of their libraries.
Result<std::string> ReadVersion() {
  const demo::TemporaryDirectory directory;
  const std::string path = directory.path() + "/version";
  RETURN_IF_ERROR(RunFfprobe({"-show_program_version", "-show_library_versions",
                              "-of", "compact", "-o", path}));
  std::ifstream file(path);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Words Joined(Words words, const Words& others) {
  words.insert(words.end(), others.begin(), others.end());
  return words;
}

Status RunFfmpeg(const Words& arguments) {
  return Run({"ffmpeg", "-nostdin", "-v", "fatal", "-y"}, arguments);
}

Status RunFfprobe(const Words& arguments) {
  return Run({"ffprobe", "-v", "fatal"}, arguments);
}

Result<std::string> KeepOfFfmpeg(const KeptFiles& kept, const std::string& name,
                                 const Words& recipe,
                                 const KeptFiles::Make& make) {
  static const Result<std::string> version = ReadVersion();
  if (!version) return version.error();
  return kept.Get(name, fmt::format("{}\n{}", fmt::join(recipe, " "), *version),
                  make);
}

}  // namespace bulkhead::cli::conformance
