// ScriptLevel: a small level of the IR for tests. A Script is a function that
// calls other functions of the module one by one. A Record is a data type that
// is a list of names. A Script has no type unless it is constructed with one.
// Their text:
//
//   record Point {
//     x,
//     y,
//   }
//
//   script @run {
//     @relu;
//     @run;
//   }

#ifndef BATON_IR_TESTING_SCRIPT_LEVEL_H_
#define BATON_IR_TESTING_SCRIPT_LEVEL_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_level.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"

namespace baton {
namespace script {

#define BATON_SCRIPT_NODES(X) \
  X(0, Script, kFunction)     \
  X(1, Record, kTypeDefinition)

BATON_DEFINE_NODE_LEVEL(14, ScriptKind, BATON_SCRIPT_NODES)

class ScriptNode final : public BaseFuncNode {
 public:
  BATON_NODE(Script, BaseFuncNode, ScriptKind::kScript)
  ScriptNode(std::vector<GlobalVar> calls, Type type, Span span)
      : BaseFuncNode(kKind, {}, std::move(type), std::move(span)),
        calls_(std::move(calls)) {}
  absl::Span<const GlobalVar> calls() const { return calls_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &ScriptNode::calls_>("calls"),
                       field::Attrs<2, &ScriptNode::attrs_>("attrs"));
  }

 private:
  std::vector<GlobalVar> calls_;
};

class Script : public BaseFunc {
 public:
  BATON_HANDLE(Script, BaseFunc, ScriptNode)
  explicit Script(std::vector<GlobalVar> calls, Type type = {}, Span span = {})
      : BaseFunc(new ScriptNode(std::move(calls), std::move(type),
                                std::move(span))) {}
};

class RecordNode final : public TypeDefinitionNode {
 public:
  BATON_NODE(Record, TypeDefinitionNode, ScriptKind::kRecord)
  RecordNode(GlobalTypeVar header, std::vector<std::string> fields)
      : TypeDefinitionNode(kKind, std::move(header)),
        fields_(std::move(fields)) {}
  absl::Span<const std::string> fields() const { return fields_; }

  static constexpr auto Fields() {
    return field::List(field::Data<2, &RecordNode::fields_>("fields"));
  }

 private:
  std::vector<std::string> fields_;
};

class Record : public TypeDefinition {
 public:
  BATON_HANDLE(Record, TypeDefinition, RecordNode)
  Record(GlobalTypeVar header, std::vector<std::string> fields)
      : TypeDefinition(new RecordNode(std::move(header), std::move(fields))) {}
};

}  // namespace script
}  // namespace baton

#endif  // BATON_IR_TESTING_SCRIPT_LEVEL_H_
