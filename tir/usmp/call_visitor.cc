#include "baton/tir/usmp/call_visitor.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

absl::StatusOr<CalledFunction> CalledBy(const CallNode* call,
                                        const IRModule& module) {
  CalledFunction called;
  if (const auto* var = call->op().As<GlobalVarNode>()) {
    called.name = var->name();
    called.args = call->args();
  } else {
    const auto* op = call->op().As<OpNode>();
    if (op == nullptr || call->args().empty() ||
        (op->name() != "tir.call_extern" &&
         op->name() != "tir.tvm_call_cpacked")) {
      return called;
    }
    const auto* name = call->args()[0].As<StringImmNode>();
    if (name == nullptr) return called;
    called.name = name->value();
    called.args = call->args().subspan(1);
  }
  called.function = module.Find<PrimFunc>(called.name);
  if (!called.function.defined()) return called;
  const size_t params = called.function->params().size();
  if (called.args.size() == params) return called;
  if (called.args.size() != params + 1) {
    return ErrorAt(
        call->span(),
        absl::StrCat("a call of ", called.name, " has ", called.args.size(),
                     " arguments for ", params, " parameters"));
  }
  called.has_context = true;
  called.args = called.args.subspan(0, params);
  return called;
}

namespace {

class CallFinder final : public Visitor {
 public:
  explicit CallFinder(const IRModule& module) : module_(module) {}
  absl::StatusOr<std::vector<std::string>> Of(const PrimFunc& function) {
    Visit(function->body());
    BATON_RETURN_IF_ERROR(status_);
    return std::move(names_);
  }

 protected:
  void VisitCall(const CallNode* node) override {
    absl::StatusOr<CalledFunction> called = CalledBy(node, module_);
    if (!called.ok()) {
      status_.Update(called.status());
      return;
    }
    if (called->function.defined() && known_.insert(called->name).second) {
      names_.push_back(called->name);
    }
    Visitor::VisitCall(node);
  }

 private:
  const IRModule& module_;
  FlatHashSet<std::string> known_;
  std::vector<std::string> names_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> CalledNames(const PrimFunc& function,
                                                     const IRModule& module) {
  return CallFinder(module).Of(function);
}

absl::StatusOr<std::vector<std::string>> ReachedFrom(const std::string& main,
                                                     const IRModule& module) {
  std::vector<std::string> reached;
  FlatHashSet<std::string> known;
  std::vector<std::string> stack = {main};
  while (!stack.empty()) {
    std::string name = std::move(stack.back());
    stack.pop_back();
    if (!known.insert(name).second) continue;
    BATON_ASSIGN_OR_RETURN(const std::vector<std::string> called,
                           CalledNames(module.Find<PrimFunc>(name), module));
    stack.insert(stack.end(), called.rbegin(), called.rend());
    reached.push_back(std::move(name));
  }
  return reached;
}

absl::Status CallVisitor::VisitFrom(const PrimFunc& main) {
  VisitFunction(main, nullptr);
  return std::move(status_);
}

void CallVisitor::PointTo(const VarNode* pointer, int memory) {
  memories_[pointer] = {memory};
}

absl::Span<const int> CallVisitor::MemoriesOf(const VarNode* pointer) const {
  const std::vector<int>* memories = memories_.Find(pointer);
  if (memories == nullptr) return {};
  return *memories;
}

void CallVisitor::Fail(const Span& span, std::string message) {
  Fail(ErrorAt(span, std::move(message)));
}

void CallVisitor::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void CallVisitor::PointToPartsOf(const VarNode* pointer,
                                 const PrimExpr& value) {
  std::vector<int> memories;
  const auto add = [&](const VarNode* part) {
    for (const int memory : MemoriesOf(part)) {
      if (!absl::c_linear_search(memories, memory)) memories.push_back(memory);
    }
  };
  if (const auto* var = value.As<VarNode>()) {
    add(var);
  } else if (value.dtype() == kHandle) {
    // A number that is computed of pointers is none: only handles are followed.
    UsesVar(value, [&](const VarNode* part) {
      add(part);
      return false;
    });
  }
  if (!memories.empty() || memories_.Contains(pointer)) {
    memories_[pointer] = std::move(memories);
  }
}

void CallVisitor::VisitFunction(const PrimFunc& function,
                                const CallNode* call) {
  bool& active = active_[function.get()];
  if (active) {
    return Fail(call->span(),
                "a function calls itself: its memory cannot be planned");
  }
  active = true;
  calls_.push_back(call);
  Visit(function->body());
  calls_.pop_back();
  active_[function.get()] = false;
}

void CallVisitor::VisitCall(const CallNode* node) {
  if (failed()) return;
  absl::StatusOr<CalledFunction> called = CalledBy(node, module_);
  if (!called.ok()) return Fail(called.status());
  const PrimFunc& function = called->function;
  if (!function.defined()) return Visitor::VisitCall(node);
  for (size_t i = 0; i < called->args.size(); ++i) {
    const PrimExpr& arg = called->args[i];
    // A pointer as such is not used before the function uses it.
    if (!arg.Is<VarNode>()) Visit(arg);
    const Buffer buffer = function->BufferOf(static_cast<int>(i));
    PointToPartsOf(
        buffer.defined() ? buffer->data().get() : function->params()[i].get(),
        arg);
  }
  if (called->has_context) Visit(node->args().back());
  VisitFunction(function, node);
}

void CallVisitor::VisitBufferLoad(const BufferLoadNode* node) {
  Use(node->buffer()->data().get());
  Visitor::VisitBufferLoad(node);
}

void CallVisitor::VisitLet(const LetNode* node) {
  PointToPartsOf(node->var().get(), node->value());
  Visitor::VisitLet(node);
}

bool CallVisitor::BeginStatement(const StmtNode* stmt) {
  if (failed()) return false;
  if (++statements_ <= kMaxStatements) return true;
  Fail(stmt->span(),
       absl::StrCat("more than ", kMaxStatements,
                    " statements run in functions that call each other: their "
                    "memory cannot be planned"));
  return false;
}

void CallVisitor::VisitUncounted(const Stmt& body) {
  --statements_;
  Visit(body);
}

void CallVisitor::VisitAllocate(const AllocateNode* node) {
  if (!BeginStatement(node)) return;
  VisitAll(node->extents());
  Visit(node->condition());
  VisitUncounted(node->body());
}

void CallVisitor::VisitAllocateConst(const AllocateConstNode* node) {
  if (BeginStatement(node)) VisitUncounted(node->body());
}

void CallVisitor::VisitLetStmt(const LetStmtNode* node) {
  if (!BeginStatement(node)) return;
  PointToPartsOf(node->var().get(), node->value());
  Visitor::VisitLetStmt(node);
}

void CallVisitor::VisitBufferStore(const BufferStoreNode* node) {
  if (!BeginStatement(node)) return;
  Use(node->buffer()->data().get());
  Visitor::VisitBufferStore(node);
}

void CallVisitor::VisitBlock(const BlockNode* node) {
  if (!BeginStatement(node)) return;
  for (const MatchRegion& match : node->match_buffers()) {
    PointToPartsOf(match->buffer()->data().get(),
                   match->source()->buffer()->data());
  }
  Visitor::VisitBlock(node);
}

#define BATON_COUNT_STATEMENT(Name)                       \
  void CallVisitor::Visit##Name(const Name##Node* node) { \
    if (BeginStatement(node)) Visitor::Visit##Name(node); \
  }
BATON_COUNT_STATEMENT(AttrStmt)
BATON_COUNT_STATEMENT(AssertStmt)
BATON_COUNT_STATEMENT(For)
BATON_COUNT_STATEMENT(While)
BATON_COUNT_STATEMENT(BufferRealize)
BATON_COUNT_STATEMENT(DeclBuffer)
BATON_COUNT_STATEMENT(SeqStmt)
BATON_COUNT_STATEMENT(IfThenElse)
BATON_COUNT_STATEMENT(Evaluate)
BATON_COUNT_STATEMENT(BlockRealize)
BATON_COUNT_STATEMENT(Prefetch)
#undef BATON_COUNT_STATEMENT

}  // namespace baton::tir
