// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bulkhead::benchmark {

// A way to send a message to another process and to receive its answer.
//
// The steps of a measurement:
// - The parent makes the object, and then forks the child. So both processes
//   have the memory and the descriptors of the object.
// - The child calls PrepareToServe(), the parent PrepareToCall(). During these
//   calls, both may use all CPUs of the measurement, because some mechanisms
//   adapt to the CPUs that they may use.
// - Each process is pinned to its own CPU.
// - The child calls Serve(), the parent calls RoundTrip() any number of times.
class Mechanism {
 public:
  virtual ~Mechanism() = default;
  Mechanism() = default;
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  virtual void PrepareToServe() {}
  // Answers each message until this process is killed.
  [[noreturn]] virtual void Serve() = 0;
  // `child` is the process that serves.
  virtual void PrepareToCall(int child) { static_cast<void>(child); }
  // Sends one message and waits for its answer. Returns false if the answer is
  // wrong or does not come.
  virtual bool RoundTrip() = 0;
};

// The name of a mechanism, and a function that makes one.
struct NamedMechanism {
  std::string name;
  std::function<std::unique_ptr<Mechanism>()> make;
};

// Make the mechanisms with which the ring is compared. The first three pass one
// word: by a busy loop, a futex, and eventfds. The last passes a Note (note.h)
// by Cap'n Proto's two-party RPC over a socket pair.
std::unique_ptr<Mechanism> MakeSpin();
std::unique_ptr<Mechanism> MakeFutex();
std::unique_ptr<Mechanism> MakeEventFds();
std::unique_ptr<Mechanism> MakeRpc();

// Makes the mechanism of a session: two rings of Cap'n Proto messages, here of
// Notes, with a waiter on either side (ipc/ring.h, ipc/waiter.h).
std::unique_ptr<Mechanism> MakeRing();

}  // namespace bulkhead::benchmark
