// Describes elementwise calls of float32, integers of 8 and 32 bits and bool,
// and casts of half floats, and makes programs (elementwise_program.h) of them.

#ifndef BATON_BACKEND_CPU_ELEMENT_GROUP_H_
#define BATON_BACKEND_CPU_ELEMENT_GROUP_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/backend/cpu/kernel_choice.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/kernels/elementwise_program.h"

namespace baton::cpu {

// An operand of an elementwise call.
struct ElementArg {
  int tensor = -1;
  TensorShape shape;  // with which it broadcasts
  DType type = DType::Float(32);
  // True if the operand is an integer or a half float that the step reads as a
  // float; then it has the shape of the result.
  bool is_converted = false;
};

// A call of an elementwise operator; kCopy for a cast.
struct ElementCall {
  kernels::ElementFunction function;
  std::vector<ElementArg> args;  // one to three
  // The constants of the function, such as the bounds of a clip.
  double p = 0;
  double q = 0;
  // A function to apply to the result: one that wraps or rounds it to a smaller
  // type, or the logical negation; kCopy for none.
  kernels::ElementFunction then = kernels::ElementFunction::kCopy;

  // True if ElementStepSource() has a source for a step with it.
  bool HasSource() const;
};

// The functions whose composition in a program is the cast; empty if programs
// cannot express it.
std::vector<kernels::ElementFunction> CastFunctions(DType from, DType to);

// The description of a node that is an elementwise call; nullopt for other
// nodes and for types that programs do not have.
std::optional<ElementCall> ElementCallOf(const GraphNode& node,
                                         const Graph& graph);

// A call of a group: its operands are those of the group, by number, or the
// results of earlier calls, numbered after the operands.
struct GroupCall {
  kernels::ElementFunction function;
  int a = 0;  // the operands
  int b = 0;
  double p = 0;  // as in ElementCall
  double q = 0;
  int c = 0;  // the third operand
};

// Makes one call of each chain of calls that quantizes or dequantizes by
// numbers that are one for all elements (kQuantize, kDequantize,
// kDequantizeInt). ElementStepSource() has no source for these.
void FuseQuantization(absl::Span<const ElementArg> operands,
                      std::vector<GroupCall>& calls);

// The step that computes `calls` in order; the last one has the result, of
// shape `shape` and type `type`, to which a float is cast. `is_float`: the last
// call gives floats. Nullopt if operands broadcast over too many dimensions.
std::optional<KernelChoice> ElementStep(absl::Span<const ElementArg> operands,
                                        absl::Span<const GroupCall> calls,
                                        const TensorShape& shape, int result,
                                        DType type = DType::Float(32),
                                        bool is_float = true);

// The C++ source, loops over vectors, of a step that ElementStep() made;
// nullopt for other steps.
std::optional<StepSource> ElementStepSource(const executor::Step& step);

// Definitions that sources with StepSource::kElements use, and further ones for
// those with StepSource::kElementsIntegers, kElementsHalves or kMath, too. A
// library has them in its namespace, behind the namespaces `rt` and `math` of
// tir/codegen.
extern const char kElementsText[];
extern const char kElementsIntegersText[];
extern const char kElementsHalvesText[];
extern const char kElementsMathText[];

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_ELEMENT_GROUP_H_
