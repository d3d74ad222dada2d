// A multilayer perceptron, as the reference's `relay.testing.mlp` builds it.

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

namespace nn = relay::nn;

struct MlpOptions {
  int64_t batch_size = 1;
  int64_t num_classes = 10;
  std::vector<int64_t> image_shape = {1, 28, 28};
  DType dtype = DType::Float(32);

  static constexpr const char* kImageShapeDoc = kChannelsFirst;
  template <typename V>
  static void VisitFields(V& v) {
    VisitImageFields<MlpOptions>(v);
  }
};

absl::StatusOr<relay::Function> BuildMlp(const MlpOptions& options) {
  BATON_ASSIGN_OR_RETURN(const relay::Var data, ImageData(options));
  Expr body = nn::BatchFlatten(data);
  body = nn::Relu(DenseAddBias(body, "fc1", 128));
  body = nn::Relu(DenseAddBias(body, "fc2", 64));
  body = DenseAddBias(body, "fc3", options.num_classes);
  return FunctionOf(nn::Softmax(body));
}

const WorkloadRegistration kMlp("mlp", "Perceptron of three dense layers.",
                                BuildMlp);

}  // namespace
}  // namespace baton::testing
