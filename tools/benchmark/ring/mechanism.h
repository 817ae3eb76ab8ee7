// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace bulkhead::benchmark {

// A way to pass a message to another process and get one back.
//
// An object is made before the fork, so that both processes have its memory and
// descriptors. Each process then calls its Prepare function, while it may run
// on every CPU of the measurement, because some mechanisms look at that. Only
// then it is moved to its CPU, and the child calls Serve(), the parent
// RoundTrip() any number of times.
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

// A mechanism by name, and how to make a new one.
struct NamedMechanism {
  std::string name;
  std::function<std::unique_ptr<Mechanism>()> make;
};

// The anchors. The first three pass one word, the last a Note by Cap'n Proto's
// two-party RPC over a socket pair.
std::unique_ptr<Mechanism> MakeSpin();
std::unique_ptr<Mechanism> MakeFutex();
std::unique_ptr<Mechanism> MakeEventFds();
std::unique_ptr<Mechanism> MakeRpc();

// Makes the mechanism of a session: two rings of Cap'n Proto messages with a
// waiter on either side (ipc/ring.h, ipc/waiter.h), here of Notes.
std::unique_ptr<Mechanism> MakeRing();

}  // namespace bulkhead::benchmark
