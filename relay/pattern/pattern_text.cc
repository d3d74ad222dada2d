#include "baton/relay/pattern/pattern_text.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/dataflow_pattern.h"

namespace baton::relay {
namespace {

using Kind = DataflowPattern::Kind;
using Node = DataflowPattern::Node;

std::string LeafText(const Node& node) {
  switch (node.kind()) {
    case Kind::kVar:
      return node.name().empty() ? "var" : absl::StrCat("var %", node.name());
    case Kind::kConstant:
      return "constant";
    case Kind::kExpr:
      if (const OpNode* op = node.op()) return op->name();
      if (const auto value = ConstantScalar(node.expr())) {
        return absl::StrCat(*value);
      }
      if (const auto* var = node.expr().As<VarNode>()) {
        return absl::StrCat("%", var->name());
      }
      return absl::StrCat("a certain ", NodeKindName(node.expr()->kind()));
    case Kind::kSelf:
      return "self";
    default:
      return node.name().empty() ? "_" : absl::StrCat("%", node.name());
  }
}

// `begin`, children with `separator` between them, `end`.
struct Shape {
  std::string begin;
  absl::string_view separator;
  std::string end;
  size_t first_child = 0;
};

Shape ShapeOf(const Node& node) {
  const bool any = node.any_operands();
  switch (node.kind()) {
    case Kind::kTuple:
      return {"(", ", ",
              any                           ? "...)"
              : node.children().size() == 1 ? ",)"
                                            : ")"};
    case Kind::kTupleGetItem:
      return {"", "",
              node.index() < 0 ? ".?" : absl::StrCat(".", node.index())};
    case Kind::kFunction:
      return {any ? "fn (...) { " : "fn { ", ", ", " }"};
    case Kind::kLet:
      return {"let(", ", ", ")"};
    case Kind::kIf:
      return {"if(", ", ", ")"};
    case Kind::kAlt:
      return {"(", " | ", ")"};
    case Kind::kWhere:
      return {"", "", absl::StrCat(" [", ConditionText(node.condition()), "]")};
    case Kind::kRegion:
      return {"dominates(", ", ", ")"};
    case Kind::kRepeat:
      return {"repeated(", ", ", ")"};
    default:
      return {};
  }
}

}  // namespace

std::string ConditionText(const PatternCondition& condition) {
  struct {
    std::string operator()(const PatternCondition::HasType& c) const {
      return c.type.ToString();
    }
    std::string operator()(const PatternCondition::HasDType& c) const {
      return absl::StrCat(
          "dtype ",
          absl::StrJoin(c.dtypes, " or ", [](std::string* out, DType dtype) {
            absl::StrAppend(out, dtype.ToString());
          }));
    }
    std::string operator()(const PatternCondition::HasShape& c) const {
      return absl::StrCat("shape (",
                          absl::StrJoin(c.shape, ", ",
                                        [](std::string* out, const Dim& dim) {
                                          absl::StrAppend(out, dim.ToString());
                                        }),
                          ")");
    }
    std::string operator()(const PatternCondition::HasRank& c) const {
      return absl::StrCat("rank ", c.rank);
    }
    std::string operator()(const PatternCondition::HasAttr& c) const {
      return absl::StrCat(c.name, " = ", c.value.ToString());
    }
    std::string operator()(const PatternCondition::IsSplat& c) const {
      return absl::StrCat("= ", c.value);
    }
    std::string operator()(const PatternCondition::HasUses& c) const {
      return c.uses == 1 ? "one use" : absl::StrCat(c.uses, " uses");
    }
    std::string operator()(const PatternCondition::Holds& c) const {
      return c.text;
    }
  } visitor;
  return std::visit(visitor, condition.form);
}

std::string PatternText(const DataflowPattern& pattern, size_t max_size) {
  if (!pattern.defined()) return "nothing";
  std::string out;
  FlatHashSet<const Node*> written;
  struct Part {
    const Node* node;  // null: `text`
    std::string text;
  };
  std::vector<Part> parts = {{pattern.get(), ""}};
  while (!parts.empty()) {
    if (out.size() > max_size) return out + " ...";
    const Part part = std::move(parts.back());
    parts.pop_back();
    if (part.node == nullptr) {
      out += part.text;
      continue;
    }
    const Node& node = *part.node;
    const absl::Span<const DataflowPattern> children = node.children();
    if (children.empty() && node.kind() != Kind::kTuple) {
      out += LeafText(node);
      continue;
    }
    if (!written.insert(&node).second) {
      out += "...";
      continue;
    }
    std::vector<Part> reversed;
    if (node.kind() == Kind::kCall) {
      reversed.push_back({children[0].get(), ""});
      reversed.push_back({nullptr, "("});
      for (size_t i = 1; i < children.size(); ++i) {
        if (i > 1) reversed.push_back({nullptr, ", "});
        reversed.push_back({children[i].get(), ""});
      }
      reversed.push_back({nullptr, node.any_operands() ? "...)" : ")"});
    } else {
      Shape shape = ShapeOf(node);
      reversed.push_back({nullptr, std::move(shape.begin)});
      for (size_t i = 0; i < children.size(); ++i) {
        if (i > 0) reversed.push_back({nullptr, std::string(shape.separator)});
        reversed.push_back({children[i].get(), ""});
      }
      reversed.push_back({nullptr, std::move(shape.end)});
    }
    for (size_t i = reversed.size(); i-- > 0;) {
      parts.push_back(std::move(reversed[i]));
    }
  }
  return out;
}

std::string NodeText(const Node& node) {
  const absl::Span<const DataflowPattern> children = node.children();
  switch (node.kind()) {
    case Kind::kWildcard:
    case Kind::kSelf:
      return "anything";
    case Kind::kVar:
      return node.name().empty()
                 ? "a variable"
                 : absl::StrCat("a variable named %", node.name());
    case Kind::kConstant:
      return "a constant";
    case Kind::kExpr:
      return LeafText(node);
    case Kind::kCall: {
      const OpNode* op = children[0]->op();
      return op == nullptr ? "a call" : absl::StrCat("a call of ", op->name());
    }
    case Kind::kTuple:
      return node.any_operands()
                 ? "a tuple"
                 : absl::StrCat("a tuple of ", children.size(),
                                children.size() == 1 ? " field" : " fields");
    case Kind::kTupleGetItem:
      return node.index() < 0
                 ? "a field of a tuple"
                 : absl::StrCat("field ", node.index(), " of a tuple");
    case Kind::kFunction:
      return "a function";
    case Kind::kLet:
      return "a let";
    case Kind::kIf:
      return "an if";
    case Kind::kAlt:
      return "one of several forms";
    case Kind::kWhere:
      return ConditionText(node.condition());
    case Kind::kRegion:
      return "a region";
    case Kind::kRepeat:
      return "a repeated form";
  }
  return "";
}

}  // namespace baton::relay
