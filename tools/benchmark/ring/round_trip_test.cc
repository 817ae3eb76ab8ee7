// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/ring/round_trip.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tools/benchmark/ring/mechanism.h"

namespace bulkhead::benchmark {
namespace {

TEST(Percentile, IsAValueOfTheSeries) {
  std::vector<double> values;
  for (int i = 100; i > 0; --i) values.push_back(i);
  EXPECT_EQ(Percentile(values, 0.5), 50);
  EXPECT_EQ(Percentile(values, 0.99), 99);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Percentile({3, 1, 2}, 0.99), 3);
  EXPECT_EQ(Percentile({7}, 0), 7);
  EXPECT_EQ(Percentile({}, 0.5), 0);
}

TEST(MeasureTrips, GetsAnAnswerFromEachMechanism) {
  const int cpu = AllowedCpus().at(0);
  // bound: the gap is what is measured.
  for (const auto make :
       {&MakeSpin, &MakeFutex, &MakeEventFds, &MakeRpc, &MakeRing}) {
    const auto mechanism = make();
    const Result<Trips> trips =
        MeasureTrips(*mechanism, {cpu, cpu},
                     {.gap = std::chrono::milliseconds(1),
                      .most_trips = 3,
                      .time = std::chrono::milliseconds(60'000)});
    ASSERT_TRUE(trips) << trips.error();
    EXPECT_GT(trips->median_us, 0);
    EXPECT_GE(trips->p99_us, trips->median_us);
    EXPECT_GT(trips->cpu_us, 0);
  }
}

class WrongAnswer : public Mechanism {
 public:
  void Serve() override {
    for (;;) pause();
  }
  bool RoundTrip() override { return false; }
};

TEST(MeasureTrips, FailsIfAnAnswerIsWrong) {
  WrongAnswer mechanism;
  const int cpu = AllowedCpus().at(0);
  const Result<Trips> trips = MeasureTrips(mechanism, {cpu, cpu}, {});
  ASSERT_FALSE(trips);
  EXPECT_EQ(trips.error().code(), Code::kInternal);
}

}  // namespace
}  // namespace bulkhead::benchmark
