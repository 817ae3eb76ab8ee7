// SPDX-License-Identifier: Apache-2.0
#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "ipc/unique_fd.h"
#include "tools/benchmark/ring/echo.capnp.h"
#include "tools/benchmark/ring/mechanism.h"
#include "tools/benchmark/ring/note.h"

namespace bulkhead::benchmark {
namespace {

class EchoServer : public Echo::Server {
 protected:
  kj::Promise<void> echo(EchoContext context) override {
    const Note::Reader note = context.getParams().getNote();
    const uint64_t sequence = note.getSequence();
    if (!CheckNote(note, sequence)) _exit(1);
    FillNote(context.getResults().initNote(), sequence);
    return kj::READY_NOW;
  }
};

// The event loop and the socket of one process.
struct Connection {
  explicit Connection(int fd)
      : io(kj::setupAsyncIo()),
        stream(io.lowLevelProvider->wrapSocketFd(
            fd, kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC)) {}

  kj::AsyncIoContext io;
  kj::Own<kj::AsyncIoStream> stream;
};

struct Client {
  explicit Client(int fd)
      : connection(fd),
        rpc(*connection.stream),
        echo(rpc.bootstrap().castAs<Echo>()) {}

  Connection connection;
  capnp::TwoPartyClient rpc;
  Echo::Client echo;
};

class Rpc : public Mechanism {
 public:
  Rpc() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) abort();
    parent_ = ipc::UniqueFd(ends[0]);
    child_ = ipc::UniqueFd(ends[1]);
  }

  void Serve() override {
    parent_.reset();
    Connection connection(child_.get());
    capnp::TwoPartyVatNetwork network(*connection.stream,
                                      capnp::rpc::twoparty::Side::SERVER);
    auto system = capnp::makeRpcServer(network, kj::heap<EchoServer>());
    network.onDisconnect().wait(connection.io.waitScope);
    _exit(0);
  }
  void PrepareToCall(int) override {
    child_.reset();
    client_ = std::make_unique<Client>(parent_.get());
  }
  bool RoundTrip() override {
    auto request = client_->echo.echoRequest();
    FillNote(request.initNote(), ++sent_);
    const auto answer = request.send().wait(client_->connection.io.waitScope);
    return CheckNote(answer.getNote(), sent_);
  }

 private:
  ipc::UniqueFd parent_;
  ipc::UniqueFd child_;
  std::unique_ptr<Client> client_;
  uint64_t sent_ = 0;
};

}  // namespace

std::unique_ptr<Mechanism> MakeRpc() { return std::make_unique<Rpc>(); }

}  // namespace bulkhead::benchmark
