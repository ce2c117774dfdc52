// peer-cpp-client opserve|opserve-messages|by-hand ADDRESS CONNECTIONS: measures
// SmoothL1LossBackward from C++, by opserve's client library, with or without shared memory, or by
// the stubs that gRPC generates. Says "ready", and does what its standard input says, line by line:
// ELEMENTS IN_FLIGHT SECONDS. Answers in JSON.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <opserve/client.h>

#include <grpcpp/grpcpp.h>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "gradient.grpc.pb.h"
#include "nlohmann/json.hpp"

namespace opserve::peer {
namespace {

using Floats = std::vector<float>;

struct Arrays {
  Floats grad_out, self, target;
};

// Computes the gradient, and gives it to `read` where the answer has it.
using Read = std::function<void(std::span<const float>)>;
using Caller = std::function<void(const Arrays&, const Read&)>;

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "peer-cpp-client: %s\n", why.c_str());
  std::exit(1);
}

Caller OpserveCaller(const std::string& address, int connections, bool shares_memory) {
  client::ConnectOptions options = {.connections = connections};
  if (!shares_memory) options.shared_memory_bytes = 0;
  absl::StatusOr<client::Client> made = client::Client::Connect(address, options);
  if (!made.ok()) Fail(made.status().ToString());
  return [own = std::make_shared<client::Client>(*std::move(made))](const Arrays& arrays,
                                                                    const Read& read) {
    const std::vector<int64_t> shape = {static_cast<int64_t>(arrays.self.size())};
    client::Call call("SmoothL1LossBackward");
    call.Input("grad_out", client::TensorView::Of(arrays.grad_out, shape))
        .Input("self", client::TensorView::Of(arrays.self, shape))
        .Input("target", client::TensorView::Of(arrays.target, shape))
        .Attribute("reduction", 0)
        .Attribute("beta", 1.0);
    const absl::StatusOr<client::ExecuteResult> result =
        own->Execute(call, {.timeout = absl::Minutes(1)});
    if (!result.ok()) Fail(result.status().ToString());
    const absl::StatusOr<std::span<const float>> gradient = result->Elements<float>("grad_input");
    if (!gradient.ok()) Fail(gradient.status().ToString());
    read(*gradient);
  };
}

Caller HandCaller(const std::string& address, int connections) {
  auto stubs = std::make_shared<std::vector<std::unique_ptr<GradientService::Stub>>>();
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stubs->push_back(GradientService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)));
  }
  auto turn = std::make_shared<std::atomic<size_t>>(0);
  return [stubs, turn](const Arrays& arrays, const Read& read) {
    const auto set = [](const Floats& values, std::string* bytes) {
      bytes->assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    };
    GradientRequest request;
    set(arrays.grad_out, request.mutable_grad_out());
    set(arrays.self, request.mutable_self());
    set(arrays.target, request.mutable_target());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::minutes(1));
    context.set_wait_for_ready(true);
    GradientAnswer answer;
    const grpc::Status status =
        (*stubs)[(*turn)++ % stubs->size()]->SmoothL1LossBackward(&context, request, &answer);
    if (!status.ok()) Fail(status.error_message());
    read({reinterpret_cast<const float*>(answer.grad_input().data()),
          answer.grad_input().size() / sizeof(float)});
  };
}

Arrays ArraysOf(size_t elements) {
  std::mt19937 numbers(1);
  std::uniform_real_distribution<float> values(-3, 3);
  const auto make = [&] {
    Floats floats(elements);
    std::generate(floats.begin(), floats.end(), [&] { return values(numbers); });
    return floats;
  };
  return {make(), make(), make()};
}

// Compares an answer with the formula, in double.
void Check(const Caller& call, const Arrays& arrays) {
  call(arrays, [&](std::span<const float> gradient) {
    if (gradient.size() != arrays.self.size()) Fail("an answer of another size");
    for (size_t i = 0; i < gradient.size(); ++i) {
      const double difference = double{arrays.self[i]} - arrays.target[i];
      const double want = std::clamp(difference, -1.0, 1.0) * arrays.grad_out[i];
      if (!(std::abs(gradient[i] - want) <= 1e-6)) Fail("the answer is wrong");
    }
  });
}

// As many threads as calls in flight, each of which makes a call before.
nlohmann::json Measure(const Caller& call, size_t elements, int in_flight, absl::Duration limit) {
  const Arrays arrays = ArraysOf(elements);
  Check(call, arrays);
  const Read take = [](std::span<const float> gradient) {
    if (gradient.empty()) Fail("an answer without elements");
  };
  std::vector<std::vector<double>> latencies(static_cast<size_t>(in_flight));
  std::barrier together(in_flight + 1);
  std::vector<std::thread> threads;
  for (std::vector<double>& own : latencies) {
    threads.emplace_back([&] {
      call(arrays, take);
      together.arrive_and_wait();
      const absl::Time begin = absl::Now();
      for (absl::Time now = begin; now - begin < limit;) {
        const absl::Time before = now;
        call(arrays, take);
        now = absl::Now();
        own.push_back(absl::ToDoubleSeconds(now - before));
      }
    });
  }
  together.arrive_and_wait();
  const absl::Time begin = absl::Now();
  for (std::thread& thread : threads) thread.join();
  const double took = absl::ToDoubleSeconds(absl::Now() - begin);
  std::vector<double> all;
  for (const std::vector<double>& own : latencies) all.insert(all.end(), own.begin(), own.end());
  std::sort(all.begin(), all.end());
  return {{"calls_per_second", static_cast<double>(all.size()) / took},
          {"p50", all[all.size() / 2]},
          {"p99", all[all.size() * 99 / 100]}};
}

int Run(std::string_view peer, const std::string& address, int connections) {
  const Caller call = peer == "by-hand" ? HandCaller(address, connections)
                                        : OpserveCaller(address, connections, peer == "opserve");
  Check(call, ArraysOf(64));
  std::cout << "ready" << std::endl;
  size_t elements = 0;
  int in_flight = 0;
  double seconds = 0;
  while (std::cin >> elements >> in_flight >> seconds)
    std::cout << Measure(call, elements, in_flight, absl::Seconds(seconds)) << std::endl;
  return 0;
}

}  // namespace
}  // namespace opserve::peer

int main(int argc, char** argv) {
  int connections = 0;
  if (argc != 4 || !absl::SimpleAtoi(argv[3], &connections) || connections < 1) {
    std::fprintf(stderr,
                 "Usage: peer-cpp-client opserve|opserve-messages|by-hand ADDRESS CONNECTIONS\n");
    return 2;
  }
  return opserve::peer::Run(argv[1], argv[2], connections);
}
