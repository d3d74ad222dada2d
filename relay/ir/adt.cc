#include "baton/relay/ir/adt.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace baton::relay {
namespace {

Type ConstructorType(const std::vector<Type>& inputs,
                     const GlobalTypeVar& belongs_to,
                     const std::vector<TypeVar>& type_params) {
  return FuncType(
      inputs, TypeCall(belongs_to, {type_params.begin(), type_params.end()}),
      type_params);
}

}  // namespace

Constructor::Constructor(std::string name, std::vector<Type> inputs,
                         GlobalTypeVar belongs_to,
                         std::vector<TypeVar> type_params, Span span) {
  Type type = ConstructorType(inputs, belongs_to, type_params);
  *this = Constructor(new ConstructorNode(
      std::move(name), std::move(inputs), std::move(belongs_to),
      std::move(type_params), std::move(type), std::move(span)));
}

void ConstructorNode::Derive(ConstructorNode& node) {
  SetFixedType(
      node, ConstructorType(node.inputs_, node.belongs_to_, node.type_params_));
}

bool SameConstructor(const ConstructorNode& a, const ConstructorNode& b) {
  return &a == &b || (a.name() == b.name() &&
                      a.belongs_to()->name() == b.belongs_to()->name());
}

PatternNode::PatternNode(Form form, Var var, Constructor constructor,
                         std::vector<Pattern> patterns, Span span)
    : Node(kKind),
      form_(form),
      var_(std::move(var)),
      constructor_(std::move(constructor)),
      patterns_(std::move(patterns)),
      span_(std::move(span)) {}

std::string PatternNode::Describe() const { return Handle(this).ToString(); }

absl::Status PatternNode::Derive(const PatternNode& node) {
  const bool is_var = node.form_ == Form::kVar;
  const bool is_constructor = node.form_ == Form::kConstructor;
  const bool may_have_parts = is_constructor || node.form_ == Form::kTuple;
  if (node.var_.defined() == is_var &&
      node.constructor_.defined() == is_constructor &&
      (may_have_parts || node.patterns_.empty())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("form: a pattern of form ", static_cast<int>(node.form_),
                   " has a variable, a constructor or patterns that only other "
                   "forms have, or lacks its own"));
}

Pattern Pattern::Wildcard(Span span) {
  return Pattern(new PatternNode(PatternNode::Form::kWildcard, {}, {}, {},
                                 std::move(span)));
}

Pattern Pattern::OfVar(Var var, Span span) {
  return Pattern(new PatternNode(PatternNode::Form::kVar, std::move(var), {},
                                 {}, std::move(span)));
}

Pattern Pattern::OfConstructor(Constructor constructor,
                               std::vector<Pattern> patterns, Span span) {
  return Pattern(new PatternNode(PatternNode::Form::kConstructor, {},
                                 std::move(constructor), std::move(patterns),
                                 std::move(span)));
}

Pattern Pattern::OfTuple(std::vector<Pattern> patterns, Span span) {
  return Pattern(new PatternNode(PatternNode::Form::kTuple, {}, {},
                                 std::move(patterns), std::move(span)));
}

std::string Pattern::ToString() const {
  // The rest to be written: patterns, and the marks between them.
  struct Piece {
    const PatternNode* pattern;
    const char* mark;
  };
  std::string out;
  std::vector<Piece> work = {{get(), nullptr}};
  while (!work.empty()) {
    const Piece piece = work.back();
    work.pop_back();
    if (piece.mark != nullptr) {
      out += piece.mark;
      continue;
    }
    const PatternNode* pattern = piece.pattern;
    switch (pattern->form()) {
      case PatternNode::Form::kWildcard:
        out += "_";
        continue;
      case PatternNode::Form::kVar:
        absl::StrAppend(&out, "%", pattern->var()->name());
        continue;
      case PatternNode::Form::kConstructor:
        out += pattern->constructor()->name();
        if (pattern->patterns().empty()) continue;
        break;
      case PatternNode::Form::kTuple:
        break;
    }
    out += "(";
    work.push_back({nullptr, ")"});
    const absl::Span<const Pattern> parts = pattern->patterns();
    for (size_t i = parts.size(); i-- > 0;) {
      work.push_back({parts[i].get(), nullptr});
      if (i != 0) work.push_back({nullptr, ", "});
    }
  }
  return out;
}

void ForEachPattern(const PatternNode* pattern,
                    absl::FunctionRef<void(const PatternNode*)> fn) {
  std::vector<const PatternNode*> stack = {pattern};
  while (!stack.empty()) {
    const PatternNode* top = stack.back();
    stack.pop_back();
    fn(top);
    const absl::Span<const Pattern> parts = top->patterns();
    for (size_t i = parts.size(); i-- > 0;) stack.push_back(parts[i].get());
  }
}

void ForEachVar(const PatternNode* pattern,
                absl::FunctionRef<void(const Var&)> fn) {
  ForEachPattern(pattern, [&](const PatternNode* part) {
    if (part->form() == PatternNode::Form::kVar) fn(part->var());
  });
}

Pattern WithVars(const PatternNode* pattern, absl::Span<const Var>* vars) {
  struct Frame {
    const PatternNode* pattern;
    size_t next;
    std::vector<Pattern> parts;
  };
  std::vector<Frame> frames;
  frames.push_back({pattern, 0, {}});
  while (true) {
    Frame& frame = frames.back();
    const absl::Span<const Pattern> parts = frame.pattern->patterns();
    if (frame.next < parts.size()) {
      const PatternNode* part = parts[frame.next++].get();
      frames.push_back({part, 0, {}});
      continue;
    }
    Pattern result(frame.pattern);
    if (frame.pattern->form() == PatternNode::Form::kVar) {
      const Var& var = vars->front();
      if (var != frame.pattern->var()) {
        result = Pattern::OfVar(var, frame.pattern->span());
      }
      vars->remove_prefix(1);
    } else if (!std::equal(parts.begin(), parts.end(), frame.parts.begin(),
                           frame.parts.end())) {
      result = Pattern(new PatternNode(
          frame.pattern->form(), {}, frame.pattern->constructor(),
          std::move(frame.parts), frame.pattern->span()));
    }
    frames.pop_back();
    if (frames.empty()) return result;
    frames.back().parts.push_back(std::move(result));
  }
}

}  // namespace baton::relay
