// SPDX-License-Identifier: Apache-2.0
//
// A library to preload into a process. Each reading of the wall clock is years
// away from the reading before, forwards or backwards. The clock that counts
// while a machine is suspended leaps by an hour each time, as after a
// suspension. Only CLOCK_MONOTONIC stays as it is.

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

constexpr time_t kYear = 365 * 24 * 3600;
constexpr time_t kHour = 3600;
std::atomic<unsigned> readings = 0;

time_t Leap(clockid_t clock) {
  const unsigned reading = ++readings;
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return (reading % 2 == 0 ? 3 : -3) * kYear;
    case CLOCK_BOOTTIME:
      return static_cast<time_t>(reading) * kHour;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(
    clockid_t clock, struct timespec* now) noexcept {
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0) now->tv_sec += Leap(clock);
  return static_cast<int>(result);
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval* now,
                                                        void*) noexcept {
  timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t* out) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
