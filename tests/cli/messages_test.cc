// SPDX-License-Identifier: Apache-2.0
//
// The command line speaks of its own options. Most messages come from the
// library, which is written for C++ and Python too, so this runs the program
// through the mistakes that users make and reads all that it says to a person.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/cli_fixture.h"
#include "tests/media/generated_clips.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using Words = std::vector<std::string>;
using Variables =
    std::vector<std::pair<std::string, std::optional<std::string>>>;

// The name of a C++ enumerator (kSkip) or of a member (Limits::streams) in
// `text`, if there is one. A slice, such as ::10, is neither.
std::optional<std::string> NameOfCpp(const std::string& text) {
  static const std::regex name(R"(\bk[A-Z][a-z]{2}\w*|\w*[A-Za-z]::\w*)");
  std::smatch found;
  if (!std::regex_search(text, found, name)) return std::nullopt;
  return found.str();
}

class Messages : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    if (IsSkipped()) return;
    damaged_ = WriteDamaged();
    state_ = TemporaryDirectory() + "/state";
  }

  const std::string& damaged() const { return damaged_; }

  // Runs a command that fails with the exit code and explains that on stderr,
  // with `words` in the text, and without the names of C++.
  void ExpectPlainFailure(int exit_code, const Words& arguments,
                          const std::string& words,
                          const Variables& variables = {}) {
    ProgramOptions options;
    options.environment = {{"BULKHEAD_STATE_DIR", state_}};
    options.environment.insert(options.environment.end(), variables.begin(),
                               variables.end());
    const ProgramResult result = Run(arguments, options);
    EXPECT_EQ(result.exit_code, exit_code) << result.Describe();
    EXPECT_NE(result.errors.find(words), std::string::npos)
        << "no " << words << " in: " << result.errors;
    const auto name = NameOfCpp(result.errors);
    EXPECT_FALSE(name) << *name << " in: " << result.errors;
  }

 private:
  // Frames 7 and 8 are no PNG pictures.
  static std::string WriteDamaged() {
    const auto pictures = Generate(Clip::kPng);
    EXPECT_TRUE(pictures) << pictures.error();
    if (!pictures) return std::string();
    std::ifstream file(*pictures, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    size_t at = 0;
    for (int frame = 0; frame < 9; ++frame, ++at) {
      at = bytes.find("IHDR", at);
      EXPECT_NE(at, std::string::npos);
      if (at == std::string::npos) break;
      if (frame >= 7) bytes[at] = 'X';
    }
    return Write("damaged.mkv", bytes);
  }

  std::string damaged_;
  std::string state_;
};

TEST(NameOfCpp, FindsEnumeratorsAndMembersOnly) {
  EXPECT_EQ(NameOfCpp("choose OnCorrupt::kSkip"), "OnCorrupt::kSkip");
  EXPECT_EQ(NameOfCpp("use kExact"), "kExact");
  EXPECT_EQ(NameOfCpp("raise Limits::streams"), "Limits::streams");
  EXPECT_EQ(NameOfCpp("-5: or ::10, 3 kHz, 4 kbit/s, Skip"), std::nullopt);
}

TEST_F(Messages, OfWordsThatMeanNothing) {
  ExpectPlainFailure(2, {"decode", clip(), "--on-corrupt", "skipp"},
                     "--on-corrupt");
  ExpectPlainFailure(2, {"decode", clip(), "--on-corrupt", "Skip"}, "nearest");
  ExpectPlainFailure(2, {"decode", clip(), "--frames", "1"}, "--at");
  ExpectPlainFailure(2, {"decode", clip(), "--at", "1,x"}, "--at");
  ExpectPlainFailure(2, {"decode", clip(), "--times", "5:1"}, "--times");
  ExpectPlainFailure(2, {"decode", clip(), "--fps", "0"}, "--fps");
  ExpectPlainFailure(2, {"decode", clip(), "--resize", "0x0"}, "--resize");
  ExpectPlainFailure(2, {"decode", clip(), "--dtype", "float"}, "--dtype");
  ExpectPlainFailure(2, {"decode", clip(), "--limit", "streams=0"}, "--limit");
  ExpectPlainFailure(2, {"decode", clip(), "--limit", "stream=1"}, "streams");
  ExpectPlainFailure(2, {"--sandbox-floor", "none", "decode", clip()},
                     "--sandbox-floor");
  ExpectPlainFailure(2, {"decode", clip(), "--device", "nosuch"}, "nosuch");
  ExpectPlainFailure(2, {"decode", clip(), "--device", "a b"}, "a b");
}

TEST_F(Messages, OfWhatTheFileDoesNotHave) {
  ExpectPlainFailure(2, {"decode", clip(), "--at", "1000"}, "1000");
  ExpectPlainFailure(2, {"decode", clip(), "--stream", "7"}, "7");
  ExpectPlainFailure(2, {"decode", clip(), "--stream", "-1"}, "-1");
  ExpectPlainFailure(2, {"decode", clip(), "--times", "1000:"}, "1000");
  ExpectPlainFailure(2, {"decode", clip(), "--crop", "4000x4000"}, "4000");
  ExpectPlainFailure(2, {"decode", clip(), "--audio", "-o", "a.wav"}, "audio");
  ExpectPlainFailure(2, {"decode", "/nowhere/clip.mp4"}, "/nowhere/clip.mp4");
  ExpectPlainFailure(2, {"probe", TemporaryDirectory()}, "directory");
  ExpectPlainFailure(2, {"probe", "/proc/self/status"}, "but no size");
  ExpectPlainFailure(3, {"probe", Write("empty.mp4", "")}, "empty");
  ExpectPlainFailure(3, {"sheet", Write("text.mp4", "Hello!\n"), "-o", "s.png"},
                     "text.mp4");
}

TEST_F(Messages, OfAudioThatCannotBeMade) {
  ExpectPlainFailure(2, {"decode", clip(), "--audio", "--sample-rate", "0"},
                     "--sample-rate");
  ExpectPlainFailure(2, {"decode", clip(), "--audio", "--channels", "1000"},
                     "--channels");
}

TEST_F(Messages, OfDamage) {
  ExpectPlainFailure(3, {"decode", damaged(), "--format", "null"},
                     "--on-corrupt");
  ExpectPlainFailure(3, {"decode", damaged(), "--at", "7", "--format", "null"},
                     "--on-corrupt");
}

TEST_F(Messages, OfDamageSpeakOfOneFrameAndOfTheCommand) {
  ExpectPlainFailure(3, {"decode", damaged(), "--format", "null"},
                     "(--on-corrupt skip)");
  const ProgramResult one = Run({"decode", damaged(), "--format", "null"});
  EXPECT_NE(one.errors.find("frame 7 is damaged, "), std::string::npos)
      << one.errors;
  EXPECT_EQ(one.errors.find("bytes from"), std::string::npos) << one.errors;
}

TEST_F(Messages, OfGlobalOptionsNameTheHelpThatHasThem) {
  ExpectPlainFailure(2, {"decode", clip(), "--limit", "streams=0"},
                     "(see bulkhead --help)");
  ExpectPlainFailure(2, {"--sandbox-floor", "none", "decode", clip()},
                     "(see bulkhead --help)");
  ExpectPlainFailure(2, {"decode", clip(), "--dtype", "float"},
                     "(see bulkhead decode --help)");
}

TEST_F(Messages, OfWhatIsMissingNameIt) {
  ExpectPlainFailure(2, {"decode", clip(), "--audio", "-o", "a.wav"},
                     "it has: video h264; decode that instead (leave out "
                     "--audio)");
  ExpectPlainFailure(2, {"uninstall", "nosuch", "--from", "/nowhere"},
                     "\"nosuch\" is not installed");
  ExpectPlainFailure(2,
                     {"install", "nofile.whl", "--into", TemporaryDirectory()},
                     "there is no file or directory \"nofile.whl\"");
  ExpectPlainFailure(
      2, {"revoke", "nosuch"}, "nothing was granted to nosuch",
      {{"BULKHEAD_GRANTS", TemporaryDirectory() + "/none.toml"}});
}

TEST_F(Messages, OfWhatIsNoFileSayWhatToDo) {
  const std::string pipe = TemporaryDirectory() + "/pipe";
  ::unlink(pipe.c_str());
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const char* command : {"decode", "probe"}) {
    ExpectPlainFailure(2, {command, "https://example.com/clip.mp4"},
                       "download it first, or pipe it into the input - (curl "
                       "URL | bulkhead decode -)");
    ExpectPlainFailure(2, {command, "file:///nowhere/clip.mp4"},
                       "name /nowhere/clip.mp4");
    ExpectPlainFailure(2, {command, pipe},
                       "pipe them into the input - (bulkhead decode - < PIPE)");
  }
  const ProgramResult absent = Run({"decode", "no/such/clip.mp4"});
  EXPECT_EQ(absent.errors.find("URL"), std::string::npos) << absent.errors;
}

// A bulkheadd that ends at once.
TEST_F(Messages, OfAWrongDirectoryOfProgramsNameTheOption) {
  const std::string directory = TemporaryDirectory() + "/wrong";
  std::filesystem::create_directory(directory);
  const std::string program = directory + "/bulkheadd";
  std::ofstream(program) << "#!/bin/sh\nexit 0\n";
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  ExpectPlainFailure(
      4, {"--libexec", directory, "decode", clip(), "--format", "null"},
      "with libexec_dir (--libexec DIR) or BULKHEAD_LIBEXEC_DIR");
}

TEST_F(Messages, AreJsonAlsoWithoutAHost) {
  for (const Words& arguments :
       {Words{"probe", "nosuch", "--json"},
        Words{"probe", clip(), "--json", "--libexec", "/nonexistent"},
        Words{"decode", clip(), "--format", "null", "--json", "--libexec",
              "/nonexistent"}}) {
    const ProgramResult failed = Run(arguments);
    EXPECT_EQ(failed.exit_code, 2) << failed.Describe();
    EXPECT_NE(failed.output.find("\"code\": \"kNotFound\""), std::string::npos)
        << failed.output;
  }
}

TEST_F(Messages, OfLimits) {
  const auto decode = [&](const std::string& limit, const std::string& words,
                          Words more = {}) {
    Words arguments = {"--limit", limit, "decode", clip(), "--format", "null"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    ExpectPlainFailure(4, arguments, words);
  };
  decode("frame-pixels=1000", "--limit frame-pixels=N");
  decode("packet-bytes=10", "--limit packet-bytes=N");
  decode("session-bytes=1000", "--limit session-bytes=N");
  decode("worker-bytes=1000", "--limit worker-bytes=N");
  decode("index-frames=3", "--limit index-frames=N", {"--at", "0"});
  decode("frame-pixels=100000", "--limit frame-pixels=N",
         {"--resize", "1000x1000"});
}

TEST_F(Messages, OfNumbersThatCannotBe) {
  for (const char* const option :
       {"--max-frame-pixels", "--max-session-bytes"}) {
    for (const std::string value :
         {"-1", "0", "many", "99999999999999999999"}) {
      ExpectPlainFailure(2, {option, value, "decode", clip()},
                         std::string(option) + ": \"" + value +
                             "\" is not a whole number from 1 to ");
    }
  }
  ExpectPlainFailure(2, {"decode", clip(), "--stream", "first"},
                     "--stream: \"first\" is no whole number in its range");
  ExpectPlainFailure(2,
                     {"verify", clip(), "--device", "cpu", "--threads", "-1"},
                     "--threads: \"-1\" is no whole number in its range");
  ExpectPlainFailure(2, {"replay", "last"},
                     "N: \"last\" is no whole number in its range");
}

TEST_F(Messages, OfEmptyValues) {
  for (const char* const option :
       {"--device", "--on-failure", "--at", "--frames", "--times", "--fps",
        "--output"}) {
    ExpectPlainFailure(
        2, {"decode", clip(), option, ""},
        "its value is empty; write one, or leave the option out");
  }
  ExpectPlainFailure(2, {"decode", ""},
                     "FILE: its value is empty; write one (");
  ExpectPlainFailure(2, {"replay", ""}, "N: its value is empty");
}

TEST_F(Messages, OfPicturesThatAreTooLargeNameTheLimit) {
  ExpectPlainFailure(4, {"--max-frame-pixels", "100", "decode", clip()},
                     " is larger than the limit of 100 pixels; raise the limit "
                     "frame_pixels (--limit frame-pixels=N)");
  const ProgramResult failed =
      Run({"--max-frame-pixels", "100", "decode", clip()});
  EXPECT_EQ(failed.errors.find("out of memory"), std::string::npos)
      << failed.errors;
}

TEST_F(Messages, OfTransformsAreAboutTheTransform) {
  const ProgramResult cropped =
      Run({"decode", clip(), "--crop", "16x16+5000+1"});
  EXPECT_EQ(cropped.exit_code, 2);
  EXPECT_NE(
      cropped.errors.find("the crop 16x16+5000+1 (--crop) reaches beyond"),
      std::string::npos)
      << cropped.errors;
  EXPECT_EQ(cropped.errors.find("packet"), std::string::npos) << cropped.errors;
  ExpectPlainFailure(4, {"decode", clip(), "--resize", "99999x99999"},
                     "99999x99999 (--resize, --crop) is larger than the limit "
                     "of 64000000 pixels");
}

TEST_F(Messages, OfReportsThatCannotBeWrittenComeFirst) {
  const ProgramResult failed =
      Run({"conformance", "cpu", "--junit", TemporaryDirectory()});
  EXPECT_EQ(failed.exit_code, 2) << failed.Describe();
  EXPECT_NE(failed.errors.find("--junit: cannot create "), std::string::npos)
      << failed.errors;
  EXPECT_EQ(failed.output, "");
  ExpectPlainFailure(2, {"conformance", "cpu", "--clips", "/dev/null"},
                     "--clips: cannot write the directory /dev/null: ");
}

TEST_F(Messages, OfVariables) {
  const Words decode = {"decode", clip(), "--format", "null"};
  for (const char* variable :
       {"BULKHEAD_DEVICE_BACKEND_AUTOLOAD", "BULKHEAD_CGROUP",
        "BULKHEAD_SANDBOX_FLOOR", "BULKHEAD_REQUIRE_MEMORY_CGROUP"}) {
    ExpectPlainFailure(2, decode, variable, {{variable, "wrong"}});
  }
  ProgramOptions relative;
  relative.environment = {{"BULKHEAD_STATE_DIR", "wrong"}};
  const ProgramResult crashes = Run({"crashes"}, relative);
  EXPECT_EQ(crashes.exit_code, 2) << crashes.Describe();
  EXPECT_EQ(NameOfCpp(crashes.errors), std::nullopt);
  ExpectPlainFailure(4, {"decode", clip(), "--device", "openreg"},
                     "BULKHEAD_BACKENDS", {{"BULKHEAD_BACKENDS", "cpu"}});
}

TEST_F(Messages, OfOperators) {
  ExpectPlainFailure(2, {"crashes", "show", "99"}, "99");
  ExpectPlainFailure(2, {"replay", "99"}, "99");
  ExpectPlainFailure(
      2, {"install", "/nowhere/acme.whl", "--into", TemporaryDirectory()},
      "acme.whl");
  ExpectPlainFailure(2, {"uninstall", "nosuch", "--from", "/nowhere"},
                     "/nowhere");
  const Variables grants = {
      {"BULKHEAD_GRANTS", TemporaryDirectory() + "/grants.toml"}};
  ExpectPlainFailure(2, {"grant", "nosuch", "read=/usr"}, "nosuch", grants);
  ExpectPlainFailure(2, {"grant", "cpu", "read=/usr"}, "--force", grants);
  ExpectPlainFailure(2, {"grant", "cpu", "reed=/usr"}, "reed=/usr", grants);
  ExpectPlainFailure(2, {"revoke", "nosuch", "--system"}, "/etc/bulkhead");
  ExpectPlainFailure(2, {"restart", "cpu", "--host", "1"}, "1");
}

TEST_F(Messages, OfPlaces) {
  const ProgramResult result =
      Run({"--plugin-path", TemporaryDirectory(), "backends", "--search"});
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_NE(result.output.find("--plugin-path"), std::string::npos)
      << result.output;
  const auto name = NameOfCpp(result.output);
  EXPECT_FALSE(name) << *name << " in: " << result.output;
}

TEST_F(Messages, OfHelp) {
  for (const char* command :
       {"",        "backends", "entry-points", "install", "uninstall", "grant",
        "revoke",  "grants",   "ps",           "top",     "metrics",   "events",
        "restart", "reload",   "disable",      "enable",  "probe",     "doctor",
        "decode",  "sheet",    "demo",         "crashes", "replay"}) {
    Words arguments = {"--help"};
    if (*command != '\0') arguments.insert(arguments.begin(), command);
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    const auto name = NameOfCpp(result.output);
    EXPECT_FALSE(name) << *name << " in: " << result.output;
  }
}

}  // namespace
}  // namespace bulkhead::tests
