// Tape: a second level of the IR, beside Relay. A tape is a straight list of
// steps on registers. `ir/` and `transform/` do not depend on it. It shows the
// parts of a level (docs/add_a_kind_of_node.md); its test shows that all of
// `ir/` and `transform/` works for it.
//
//   tape @scaled(%x, %y) {
//     %t = multiply(%x, %y);
//     %t = @main(%t);
//     return %t;
//   }
//
// A step calls an operator or a function of the module, of any kind, with the
// values of registers. It stores the result in a register, which may be written
// again.

#ifndef BATON_TESTING_TAPE_TAPE_H_
#define BATON_TESTING_TAPE_TAPE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_level.h"
#include "baton/ir/span.h"

namespace baton {
namespace tape {

#define BATON_TAPE_NODES(X) \
  X(0, Register, kLeafExpr) \
  X(1, Step, kExpr)         \
  X(2, Tape, kFunction)

BATON_DEFINE_NODE_LEVEL(12, TapeKind, BATON_TAPE_NODES)

// A storage location for a value. Its identity is the node, not the name.
class RegisterNode final : public ExprNode {
 public:
  BATON_NODE(Register, ExprNode, TapeKind::kRegister)
  explicit RegisterNode(std::string name)
      : ExprNode(kKind), name_(std::move(name)) {}
  const std::string& name() const { return name_; }  // without the `%`
  std::string Describe() const { return "%" + name_; }

  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  static constexpr auto Fields() {
    return field::List(field::Name<1, &RegisterNode::name_>("name"));
  }

 private:
  std::string name_;
};

class Register : public Expr {
 public:
  BATON_HANDLE(Register, Expr, RegisterNode)
  explicit Register(std::string name)
      : Expr(new RegisterNode(std::move(name))) {}
};

// `result = callee(args...)`.
class StepNode final : public ExprNode {
 public:
  BATON_NODE(Step, ExprNode, TapeKind::kStep)
  StepNode(Register result, Expr callee, std::vector<Register> args, Span span)
      : ExprNode(kKind, {}, std::move(span)),
        result_(std::move(result)),
        callee_(std::move(callee)),
        args_(std::move(args)) {}
  const Register& result() const { return result_; }
  const Expr& callee() const { return callee_; }  // an Op or a GlobalVar
  absl::Span<const Register> args() const { return args_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &StepNode::callee_>("callee"),
                       field::Child<2, &StepNode::args_>("args"),
                       field::Child<3, &StepNode::result_>("result"));
  }

 private:
  Register result_;
  Expr callee_;
  std::vector<Register> args_;
};

class Step : public Expr {
 public:
  BATON_HANDLE(Step, Expr, StepNode)
  Step(Register result, Expr callee, std::vector<Register> args, Span span = {})
      : Expr(new StepNode(std::move(result), std::move(callee), std::move(args),
                          std::move(span))) {}
};

// A function. Its parameters contain the arguments; the other registers are
// undefined until a step writes them.
class TapeNode final : public BaseFuncNode {
 public:
  BATON_NODE(Tape, BaseFuncNode, TapeKind::kTape)
  TapeNode(std::vector<Register> params, std::vector<Register> locals,
           std::vector<Step> steps, Register result, DictAttrs attrs, Span span)
      : BaseFuncNode(kKind, std::move(attrs), {}, std::move(span)),
        params_(std::move(params)),
        locals_(std::move(locals)),
        steps_(std::move(steps)),
        result_(std::move(result)) {}
  absl::Span<const Register> params() const { return params_; }
  // The other registers, in the order of their first steps.
  absl::Span<const Register> locals() const { return locals_; }
  absl::Span<const Step> steps() const { return steps_; }
  const Register& result() const { return result_; }

  static constexpr auto Fields() {
    return field::List(field::Binder<1, &TapeNode::params_>("params"),
                       field::Binder<2, &TapeNode::locals_>("locals"),
                       field::Child<3, &TapeNode::steps_>("steps"),
                       field::Child<4, &TapeNode::result_>("result"),
                       field::Attrs<5, &TapeNode::attrs_>("attrs"));
  }

 private:
  std::vector<Register> params_;
  std::vector<Register> locals_;
  std::vector<Step> steps_;
  Register result_;
};

class Tape : public BaseFunc {
 public:
  BATON_HANDLE(Tape, BaseFunc, TapeNode)
  // The constructor collects the other registers from the steps.
  Tape(std::vector<Register> params, std::vector<Step> steps, Register result,
       DictAttrs attrs = {}, Span span = {});
};

}  // namespace tape
}  // namespace baton

#endif  // BATON_TESTING_TAPE_TAPE_H_
