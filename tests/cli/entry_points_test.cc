// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr unsigned kNobody = 65534;

class EntryPointsCommand : public testing::Test {
 protected:
  EntryPointsCommand() {
    // Users other than root must be able to read the directory.
    std::string path = fs::temp_directory_path() / "bulkhead-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) std::abort();
    path_ = fs::canonical(path);
    fs::permissions(path_, fs::perms(0755));
  }
  ~EntryPointsCommand() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  // Installs a distribution as torch does, and a faulty one beside it.
  void InstallTorch() {
    Install("torch-2.5.1+cu124.dist-info", "torch", "2.5.1+cu124",
            "[console_scripts]\n"
            "torchfrtrace = tools.flight_recorder.fr_trace:main\n"
            "torchrun = torch.distributed.run:main\n"
            "\n"
            "[torchrun.logs_specs]\n"
            "default = torch.distributed.elastic.multiprocessing:"
            "DefaultLogsSpecs\n");
    Install("broken-1.0.dist-info", "broken", "1.0",
            "[console_scripts]\nno equals sign\nfine = mod [x-y,z]\n");
  }

  void Install(const std::string& folder, const std::string& name,
               const std::string& version, const std::string& entry_points) {
    const fs::path info = fs::path(path_) / folder;
    fs::create_directories(info);
    std::ofstream(info / "METADATA") << "Metadata-Version: 2.1\nName: " << name
                                     << "\nVersion: " << version << "\n";
    std::ofstream(info / "entry_points.txt") << entry_points;
  }

  static ProgramResult Run(std::vector<std::string> arguments,
                           ProgramOptions options = {}) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    options.environment.push_back({"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()});
    return RunProgram(arguments, options);
  }

  static std::set<std::string> Names(const ProgramResult& result) {
    std::set<std::string> names;
    const Json facts = Json::parse(result.output, nullptr, false);
    if (facts.is_discarded()) return names;
    for (const Json& entry : facts["entry_points"]) {
      names.insert(entry["name"].get<std::string>());
    }
    return names;
  }

  std::string path_;
};

TEST_F(EntryPointsCommand, JsonHasEveryFieldOfEveryGroup) {
  InstallTorch();
  const ProgramResult result = Run({"entry-points", "--path", path_, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  const Json facts = Json::parse(result.output);
  EXPECT_EQ(facts.size(), 2u);
  ASSERT_EQ(facts["entry_points"].size(), 4u);
  const std::string info = path_ + "/torch-2.5.1+cu124.dist-info";
  EXPECT_EQ(facts["entry_points"][2],
            Json({{"name", "torchrun"},
                  {"value", "torch.distributed.run:main"},
                  {"module", "torch.distributed.run"},
                  {"attr", "main"},
                  {"extras", Json::array()},
                  {"group", "console_scripts"},
                  {"distribution", "torch"},
                  {"version", "2.5.1+cu124"},
                  {"file", info + "/entry_points.txt"},
                  {"line", 3}}));
  EXPECT_EQ(facts["entry_points"][0]["attr"], Json());
  EXPECT_EQ(facts["entry_points"][0]["extras"], Json({"x-y", "z"}));
  ASSERT_EQ(facts["diagnostics"].size(), 1u);
  const Json& diagnostic = facts["diagnostics"][0];
  EXPECT_EQ(diagnostic["file"],
            path_ + "/broken-1.0.dist-info/entry_points.txt");
  EXPECT_EQ(diagnostic["line"], 2);
  EXPECT_EQ(diagnostic["severity"], "error");
  EXPECT_THAT(diagnostic["message"].get<std::string>(),
              HasSubstr("no equals sign"));
}

TEST_F(EntryPointsCommand, AGroupSelects) {
  InstallTorch();
  const ProgramResult result = Run({"entry-points", "--path", path_, "--group",
                                    "torchrun.logs_specs", "--json"});
  const Json facts = Json::parse(result.output);
  ASSERT_EQ(facts["entry_points"].size(), 1u);
  EXPECT_EQ(facts["entry_points"][0]["name"], "default");
  // A fault in another distribution does not hide this entry point.
  EXPECT_EQ(facts["diagnostics"].size(), 1u);
}

TEST_F(EntryPointsCommand, TheFirstPathWins) {
  const std::string later = path_ + "/later";
  fs::create_directory(later);
  Install("later/Acme_Pkg-2.0.dist-info", "Acme_Pkg", "2.0",
          "[g]\nx = later\ny = later\n");
  Install("acme.pkg-1.0.dist-info", "acme.pkg", "1.0", "[g]\nx = first\n");
  const ProgramResult result =
      Run({"entry-points", "--path", path_, "--path", later, "--json"});
  const Json facts = Json::parse(result.output);
  ASSERT_EQ(facts["entry_points"].size(), 1u) << result.output;
  EXPECT_EQ(facts["entry_points"][0]["value"], "first");
  EXPECT_EQ(facts["diagnostics"][0]["severity"], "note");
}

TEST_F(EntryPointsCommand, WithoutPathItIsThePluginPath) {
  InstallTorch();
  ProgramOptions options;
  options.environment = {{"BULKHEAD_PATH", path_}};
  const ProgramResult result = Run({"entry-points", "--json"}, options);
  const std::set<std::string> names = Names(result);
  EXPECT_TRUE(names.contains("torchrun"));
  EXPECT_TRUE(names.contains("cpu"));
}

TEST_F(EntryPointsCommand, PeopleReadItOnStdout) {
  InstallTorch();
  const ProgramResult result = Run({"entry-points", "--path", path_});
  EXPECT_THAT(result.output,
              HasSubstr("torchrun = torch.distributed.run:main"));
  EXPECT_THAT(result.output, HasSubstr("[torchrun.logs_specs]"));
  EXPECT_THAT(result.errors, HasSubstr("entry_points.txt:2: error:"));
}

TEST_F(EntryPointsCommand, BackendsTellsEachPlaceThatWasSearched) {
  InstallTorch();
  ProgramOptions options;
  options.environment = {{"BULKHEAD_PATH", path_ + ":/no/such/place:relative"},
                         {"BULKHEAD_ADD_PATH", path_ + "/torch"}};
  const ProgramResult told = Run({"backends", "--search"}, options);
  EXPECT_EQ(told.exit_code, 0) << told.Describe();
  for (const std::string& line :
       {path_ + "  (BULKHEAD_PATH): 2 distributions, 0 backends",
        std::string("/no/such/place  (BULKHEAD_PATH): does not exist"),
        std::string("(built in): 2 distributions, 2 backends"),
        std::string("\"relative\" is ignored")}) {
    EXPECT_THAT(told.output + told.errors, HasSubstr(line));
  }
  const Json facts =
      Json::parse(Run({"backends", "--search", "--json"}, options).output);
  ASSERT_EQ(facts["places"].size(), 4u);
  EXPECT_EQ(facts["places"][0]["origin"], "BULKHEAD_ADD_PATH");
  EXPECT_EQ(facts["places"][1]["outcome"], "2 distributions, 0 backends");
}

TEST_F(EntryPointsCommand, AListThatIsLargerThanAPacketArrives) {
  // As many as are read, of as many packages as that takes.
  for (int package = 0; package < 8; ++package) {
    std::string many = "[bulkhead.backends]\n";
    for (int i = 0; i < 30; ++i) {
      many += "backend_with_a_long_name_" + std::to_string(30 * package + i) +
              " = no.such:x\n";
    }
    const std::string name = "many" + std::to_string(package);
    Install(name + "-1.0.dist-info", name, "1.0", many);
  }
  ProgramOptions options;
  options.environment = {{"BULKHEAD_PATH", path_}};
  const ProgramResult result = Run({"backends", "--json"}, options);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const Json facts = Json::parse(result.output);
  EXPECT_EQ(facts["backends"].size(), 242u);
  EXPECT_GE(facts["diagnostics"].size(), 240u);
}

// The user who starts a set-user-ID program must not choose what it loads.
TEST_F(EntryPointsCommand, APrivilegedProcessReadsNoVariable) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
  InstallTorch();
  const std::string program = path_ + "/bulkhead";
  fs::copy_file(PathFromEnvironment("BULKHEAD_TEST_CLI"), program);
  const std::vector<std::string> as_nobody = {
      "setpriv", "--reuid=" + std::to_string(kNobody),
      "--regid=" + std::to_string(kNobody), "--clear-groups"};
  const auto names = [&] {
    std::vector<std::string> arguments = as_nobody;
    arguments.insert(arguments.end(), {program, "entry-points", "--json"});
    ProgramOptions options;
    options.environment = {{"BULKHEAD_PATH", path_},
                           {"BULKHEAD_ADD_PATH", path_},
                           {"XDG_DATA_HOME", path_}};
    const ProgramResult result = RunProgram(arguments, options);
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    return Names(result);
  };
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  ASSERT_TRUE(names().contains("torchrun")) << "an ordinary one does";
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_FALSE(names().contains("torchrun"));
}

// The user could have linked the program to a place with a bulkheadd of theirs.
TEST_F(EntryPointsCommand, APrivilegedProcessStartsNoBulkheaddBesideIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make such a program";
  const std::string place = path_ + "/place";
  const std::string libexec = place + "/bulkhead/libexec";
  const std::string told = place + "/told";
  fs::create_directories(libexec);
  fs::create_directory(told);
  ASSERT_EQ(chmod(told.c_str(), 0777), 0);
  std::ofstream(libexec + "/bulkheadd")
      << "#!/bin/sh\necho started > " << told << "/started\n";
  ASSERT_EQ(chmod((libexec + "/bulkheadd").c_str(), 0755), 0);
  const std::string program = place + "/program";
  fs::copy_file(PathFromEnvironment("BULKHEAD_TEST_CLI"), program);
  const auto starts = [&] {
    fs::remove(told + "/started");
    ProgramOptions options;
    options.environment = {{"BULKHEAD_LIBEXEC_DIR", ""}};
    RunProgram({"setpriv", "--reuid=" + std::to_string(kNobody),
                "--regid=" + std::to_string(kNobody), "--clear-groups", program,
                "backends"},
               options);
    return fs::exists(told + "/started");
  };
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  ASSERT_TRUE(starts()) << "an ordinary one does";
  ASSERT_EQ(chmod(program.c_str(), 04755), 0);
  EXPECT_FALSE(starts());
}

}  // namespace
}  // namespace bulkhead::tests
