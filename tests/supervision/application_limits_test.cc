// SPDX-License-Identifier: Apache-2.0
//
// Tests an application whose own resource limits keep backends from starting:
// it learns which limit, and nobody else notices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "core/base/testing/temporary_tree.h"
#include "tests/chaos/chaos_installation.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The number of failures that leads to quarantine: see restart_policy.h.
constexpr uint32_t kTooMany = 5;

class ApplicationLimits : public testing::Test {
 protected:
  std::unique_ptr<Host> NewHost() const {
    HostOptions options = installation_.options();
    options.state_directory = state_.path();
    return Host::Create(options).value();
  }
  // Returns a Host whose bulkheadd has the limit, as it has the limits that the
  // application has when it starts.
  std::unique_ptr<Host> NewHostWith(__rlimit_resource resource,
                                    rlim_t value) const {
    auto host = NewHost();
    const rlimit limit = {value, value};
    EXPECT_EQ(::prlimit(host->supervisor_pid(), resource, &limit, nullptr), 0);
    return host;
  }
  static BackendInfo Chaos(Host& host) {
    const BackendReport report = host.Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "chaos") return backend;
    }
    return {};
  }

  // Returns the number of quarantines on record.
  int Quarantines() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(state_.path())) {
      count += entry.path().filename().string().starts_with("quarantine-");
    }
    return count;
  }

  const ChaosInstallation installation_;
  const TemporaryTree state_;
};

TEST_F(ApplicationLimits, AreNeverHeldAgainstABackend) {
  struct Row {
    __rlimit_resource resource;
    rlim_t value;
    const char* named;
  };
  for (const auto& [resource, value, named] :
       {Row{RLIMIT_AS, 60 << 20, "61440 KiB of address space (ulimit -v)"},
        Row{RLIMIT_DATA, 2 << 20, "2048 KiB of private memory (ulimit -d)"}}) {
    SCOPED_TRACE(named);
    const auto host = NewHostWith(resource, value);
    Status refused;
    // Each start waits for a longer backoff than the one before.
    while (Chaos(*host).state != "quarantined" &&
           Chaos(*host).incarnation <= kTooMany) {
      refused = host->Prewarm("chaos");
      ASSERT_EQ(refused.code(), Code::kResourceExhausted) << refused;
      EXPECT_THAT(refused.message(), HasSubstr(named));
    }
    EXPECT_EQ(Chaos(*host).state, "backing-off");
    EXPECT_EQ(Quarantines(), 0);
    const Status elsewhere = NewHost()->Prewarm("chaos");
    EXPECT_TRUE(elsewhere.ok()) << elsewhere;
  }
}

// Code of the vendor has run and died. It may have died of the limit.
TEST_F(ApplicationLimits, ADeathUnderThemQuarantinesNothing) {
  installation_.SetFaults("at=load do=abort");
  const auto host = NewHostWith(RLIMIT_AS, rlim_t{2} << 30);
  while (Chaos(*host).state != "quarantined" &&
         Chaos(*host).incarnation <= kTooMany) {
    const Status refused = host->Prewarm("chaos");
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.message(),
                AllOf(HasSubstr("signal 6"),
                      HasSubstr("2097152 KiB of address space (ulimit -v)")));
  }
  EXPECT_EQ(Chaos(*host).state, "backing-off");
  EXPECT_EQ(Quarantines(), 0);
}

TEST_F(ApplicationLimits, OnProcessesIsNamedAtOnce) {
  const auto host = NewHostWith(RLIMIT_NPROC, 1);
  for (int i = 0; i < 2; ++i) {
    const Status refused = host->Prewarm("chaos");
    EXPECT_EQ(refused.code(), Code::kResourceExhausted) << refused;
    EXPECT_THAT(refused.message(), HasSubstr("(ulimit -u)"));
  }
}

// Neither is the machine called too weak a sandbox.
TEST_F(ApplicationLimits, OnOpenFilesIsNamedAtOnce) {
  for (const rlim_t files : {20, 40}) {
    const auto host = NewHostWith(RLIMIT_NOFILE, files);
    const Status refused = host->Prewarm("chaos");
    EXPECT_EQ(refused.code(), Code::kResourceExhausted) << refused;
    EXPECT_THAT(refused.message(),
                AllOf(HasSubstr("has too few left to find and start a backend"),
                      HasSubstr("(ulimit -Hn, RLIMIT_NOFILE)")));
    EXPECT_TRUE(host->Backends());
  }
}

// At a soft limit the kernel sends SIGXCPU, which would look like a crash.
TEST_F(ApplicationLimits, OnProcessorTimeEndNoBackendBySignal) {
  const auto host = NewHost();
  const rlimit limit = {60, 3'600};
  ASSERT_EQ(::prlimit(host->supervisor_pid(), RLIMIT_CPU, &limit, nullptr), 0);
  ASSERT_TRUE(host->Prewarm("chaos").ok());
  rlimit inherited = {};
  ASSERT_EQ(::prlimit(Chaos(*host).zygote_pid, RLIMIT_CPU, nullptr, &inherited),
            0);
  EXPECT_EQ(inherited.rlim_cur, 3'600u);
}

}  // namespace
}  // namespace bulkhead::tests
