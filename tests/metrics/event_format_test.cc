// SPDX-License-Identifier: Apache-2.0
//
// Tests that each line of `bulkhead events --json` is what
// events.schema.json, on which log shippers rely, says.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Validates each line of the second file against the schema in the first. A
// member that the schema does not describe is an error too. Prints the kinds of
// the events.
constexpr char kValidate[] = R"(
import json, sys
import jsonschema

with open(sys.argv[1]) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
schema["additionalProperties"] = False
schema["properties"]["exit"]["additionalProperties"] = False
validator = jsonschema.Draft202012Validator(schema)
with open(sys.argv[2]) as lines:
    for line in lines:
        event = json.loads(line)
        validator.validate(event)
        print(event["kind"], (event["exit"] or {}).get("kind"))
)";

constexpr char kPython[] = "/usr/bin/python3";

TEST(EventFormat, IsThatOfTheSchema) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  if (RunProgram({kPython, "-c", "import jsonschema"}).exit_code != 0) {
    GTEST_SKIP() << "jsonschema is not there; tools/setup --fleet installs it";
  }
  const ChaosInstallation installation;
  HostOptions options = installation.options();
  options.deadlines.seek = kShort;
  options.deadlines.frame = kShort;
  const auto host = Host::Create(options).value();
  const auto decode = [&](const std::string& faults) {
    auto video = host->OpenVideo(clip, installation.Stream(faults)).value();
    while (video.Next().value()) {
    }
  };
  decode("at=packet:9 do=segfault lives=1");
  decode("at=packet:9 do=hang lives=1");
  const int pid = ::getpid();
  ASSERT_TRUE(CommandBackend(pid, "chaos", BackendCommand::kRestart).ok());
  ASSERT_TRUE(CommandBackend(pid, "chaos", BackendCommand::kDisable).ok());
  ASSERT_TRUE(CommandBackend(pid, "chaos", BackendCommand::kEnable).ok());

  const ProgramResult events =
      RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"), "events", "--json",
                  "--host", std::to_string(pid)});
  ASSERT_EQ(events.exit_code, 0) << events.Describe();
  const std::string lines = TemporaryDirectory() + "/events";
  std::ofstream(lines) << events.output;
  const ProgramResult checked =
      RunProgram({kPython, "-c", kValidate,
                  PathFromEnvironment("BULKHEAD_EVENT_SCHEMA"), lines});
  EXPECT_EQ(checked.exit_code, 0) << checked.Describe();
  EXPECT_THAT(
      checked.output,
      AllOf(HasSubstr("backend-state None\n"), HasSubstr("command None\n"),
            HasSubstr("session-opened None\n"),
            HasSubstr("session-closed None\n"), HasSubstr("zygote-ended "),
            HasSubstr("worker-ended signaled\n"),
            HasSubstr("worker-ended deadline\n")));
}

}  // namespace
}  // namespace bulkhead::tests
