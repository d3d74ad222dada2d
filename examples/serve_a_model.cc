// A server of one model: threads that share an executable, each with a session.
//
//   serve_a_model [THREADS [REQUESTS]]
//
// docs/run_a_model.md explains it.

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/workloads/bound_workload.h"

namespace {

// [server]
// Answers requests on several threads. A request waits until a thread is free.
class ModelServer {
 public:
  using Answer = absl::StatusOr<std::vector<baton::Tensor>>;

  static absl::StatusOr<std::unique_ptr<ModelServer>> Start(
      const baton::Executable& model, int num_threads) {
    std::unique_ptr<ModelServer> server(new ModelServer());
    for (int i = 0; i < num_threads; ++i) {
      // The sessions share the weights: each costs its arena.
      BATON_ASSIGN_OR_RETURN(std::unique_ptr<baton::Session> session,
                             baton::Session::Create(model));
      server->sessions_.push_back(std::move(session));
    }
    for (const std::unique_ptr<baton::Session>& session : server->sessions_) {
      server->threads_.emplace_back(&ModelServer::Serve, server.get(),
                                    session.get());
    }
    return server;
  }

  // Answers the requests that were made, then ends the threads.
  ~ModelServer() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::future<Answer> Ask(std::vector<baton::Tensor> inputs) {
    Request request = {std::move(inputs), {}};
    std::future<Answer> answer = request.answer.get_future();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      requests_.push_back(std::move(request));
    }
    changed_.notify_one();
    return answer;
  }

 private:
  struct Request {
    std::vector<baton::Tensor> inputs;
    std::promise<Answer> answer;
  };

  ModelServer() = default;

  void Serve(baton::Session* session) {
    while (true) {
      Request request;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return is_ending_ || !requests_.empty(); });
        if (requests_.empty()) return;
        request = std::move(requests_.front());
        requests_.pop_front();
      }
      request.answer.set_value(session->Run(request.inputs));
    }
  }

  std::vector<std::unique_ptr<baton::Session>> sessions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};
// [/server]

// A built-in network with its weights. A server of your own reads a file of
// `baton-opt --emit=executable` with ReadExecutable(), which needs no passes.
absl::StatusOr<baton::Executable> CompileNetwork() {
  BATON_ASSIGN_OR_RETURN(baton::IRModule module,
                         baton::testing::BoundWorkload("mlp"));
  BATON_ASSIGN_OR_RETURN(module, baton::relay::InferTypes(module));
  return baton::Compile(std::move(module), {});
}

absl::Status Run(int num_threads, int num_requests) {
  BATON_ASSIGN_OR_RETURN(const baton::Executable model, CompileNetwork());
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<ModelServer> server,
                         ModelServer::Start(model, num_threads));
  std::vector<std::future<ModelServer::Answer>> answers;
  for (int i = 0; i < num_requests; ++i) {
    const baton::Executable::Port& port = model.inputs()[0];
    BATON_ASSIGN_OR_RETURN(
        baton::MutableTensor image,
        baton::MutableTensor::Create(port.dtype, port.shape));
    for (float& pixel : image.span<float>()) pixel = static_cast<float>(i) / 64;
    answers.push_back(server->Ask({std::move(image).Freeze()}));
  }
  double sum = 0;
  for (std::future<ModelServer::Answer>& answer : answers) {
    BATON_ASSIGN_OR_RETURN(const std::vector<baton::Tensor> results,
                           answer.get());
    sum += results[0].AtAsDouble(0);
  }
  std::cout << num_requests << " answers, sum " << sum << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const int num_threads = argc > 1 ? std::atoi(argv[1]) : 4;
  const int num_requests = argc > 2 ? std::atoi(argv[2]) : 64;
  const absl::Status status = num_threads > 0
                                  ? Run(num_threads, num_requests)
                                  : absl::InvalidArgumentError("no threads");
  if (status.ok()) return 0;
  std::cerr << "serve_a_model: " << status.message() << "\n";
  return 1;
}
