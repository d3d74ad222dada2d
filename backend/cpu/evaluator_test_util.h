// Compares plans with the evaluator, for tests of this package.

#ifndef BATON_BACKEND_CPU_EVALUATOR_TEST_UTIL_H_
#define BATON_BACKEND_CPU_EVALUATOR_TEST_UTIL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baton/backend/cpu/executable.h"
#include "baton/backend/cpu/kernel_costs.h"
#include "baton/ir/module.h"

namespace baton::cpu {

// The last lines of a module's text in which `meta[tir.Var][0]` is a dimension
// n.
inline constexpr char kMetadataOfN[] = R"(#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.Var"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "tir.Var", "attrs": {"dtype": "int32", "name": "4",
   "span": "0", "type_annotation": "0"}},
  {"type_key": "runtime.String", "repr_str": "n"}],
 "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}})";

// Runs `model`, which was compiled from `module`, on random inputs with 1, 2, 3
// and 16 threads, as many as the model has, and expects the bits of the
// evaluator, or a failure where it fails. Bytes of inputs have their whole
// range. The evaluator uses the widest vectors; the steps of the run use at
// most `bits` bits, if that is not 0.
void ExpectSameAsEvaluator(const IRModule& module, const Executable& model,
                           uint32_t seed, bool special, int bits = 0);

// Binds weights (bound_weights.h), compiles for 16 threads and compares on plain
// and on special numbers. Returns the kernels of the plan.
std::vector<std::string> CheckProgram(
    const std::string& text, std::shared_ptr<const KernelCosts> costs = {});

// The built-in table with other speeds: `conv.pointwise` is all rows of that
// family.
std::shared_ptr<const KernelCosts> CostsWith(
    const std::vector<std::pair<std::string, double>>& speeds);

// A table of random costs, from a thousandth to a thousand times those of the
// built-in one.
std::shared_ptr<const KernelCosts> RandomCosts(uint32_t seed);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_EVALUATOR_TEST_UTIL_H_
