#include "baton/testing/workloads/layers.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"

namespace baton::testing {

using relay::Var;

namespace nn = relay::nn;

Expr Conv2D(const Expr& data, const std::string& name,
            relay::Conv2DAttrs attrs) {
  return nn::Conv2D(data, Var(name + "_weight"), std::move(attrs));
}

Expr Conv3D(const Expr& data, const std::string& name,
            relay::Conv3DAttrs attrs) {
  return nn::Conv3D(data, Var(name + "_weight"), std::move(attrs));
}

Expr Conv2DTranspose(const Expr& data, const std::string& name,
                     relay::Conv2DTransposeAttrs attrs) {
  return nn::Conv2DTranspose(data, Var(name + "_weight"), std::move(attrs));
}

Expr Dense(const Expr& data, const std::string& name, int64_t units) {
  return nn::Dense(data, Var(name + "_weight"), {.units = units});
}

Expr AddBias(const Expr& data, const std::string& name, int axis) {
  return nn::BiasAdd(data, Var(name + "_bias"), axis);
}

Expr DenseAddBias(const Expr& data, const std::string& name, int64_t units) {
  return AddBias(Dense(data, name, units), name, /*axis=*/-1);
}

Expr BatchNorm(const Expr& data, const std::string& name,
               relay::BatchNormAttrs attrs) {
  return relay::TupleGetItem(
      nn::BatchNorm(data, Var(name + "_gamma"), Var(name + "_beta"),
                    Var(name + "_moving_mean"), Var(name + "_moving_var"),
                    attrs),
      0);
}

std::string KernelLayout(absl::string_view data_layout) {
  const absl::string_view space =
      data_layout.size() == 4 ? absl::string_view("HW") : "DHW";
  return data_layout[1] == 'C' ? absl::StrCat("OI", space)
                               : absl::StrCat(space, "IO");
}

std::string DepthwiseKernelLayout(absl::string_view data_layout) {
  return data_layout == "NCHW" ? "OIHW" : "HWOI";
}

int ChannelAxis(absl::string_view layout) {
  return static_cast<int>(layout.find('C'));
}

relay::Function FunctionOf(const Expr& body) {
  return relay::Function(relay::FreeVars(body), body);
}

}  // namespace baton::testing
