// Registers the properties of functions of loops (transform/module_property.h).

#include <cstddef>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/module_property.h"

namespace baton::tir {
namespace {

// The first error of `check` over all functions of loops of `module`.
absl::Status CheckFunctions(
    const IRModule& module,
    absl::FunctionRef<absl::Status(const PrimFunc&)> check) {
  for (const auto& [var, function] : module.functions<PrimFunc>()) {
    const absl::Status status = check(function);
    if (!status.ok()) {
      return absl::Status(
          absl::StatusCode::kFailedPrecondition,
          absl::StrCat("@", var->name(), ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

// Keeps the first error.
class FirstError : public Visitor {
 public:
  absl::Status Of(const PrimFunc& function) {
    if (IsFromTeSchedule(function)) return absl::OkStatus();
    Visit(function->body());
    return std::move(status_);
  }

 protected:
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

 private:
  absl::Status status_;
};

class Initializations : public FirstError {
 protected:
  void VisitBlock(const BlockNode* block) override {
    if (block->init().defined()) {
      Fail(block->span(),
           absl::StrCat("block ", block->name(), " has an initialization"));
    }
    Visitor::VisitBlock(block);
  }
};

class BlockVariables final : public Initializations {
 protected:
  void VisitBlock(const BlockNode* block) override {
    if (!block->iter_vars().empty()) {
      Fail(block->span(),
           absl::StrCat("block ", block->name(), " has variables"));
    }
    Initializations::VisitBlock(block);
  }
};

// Finds buffers with other axes than their allocations.
class AllocatedAxes final : public FirstError {
 protected:
  void VisitAllocate(const AllocateNode* node) override {
    axes_[node->var().get()] = node->extents().size();
    Visitor::VisitAllocate(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Check(node->buffer(), node->span());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Check(node->buffer(), node->span());
    Visitor::VisitBufferStore(node);
  }

 private:
  void Check(const Buffer& buffer, const Span& span) {
    const size_t* allocated = axes_.Find(buffer->data().get());
    const size_t axes = buffer->axis_separators().size() + 1;
    if (allocated != nullptr && *allocated != axes) {
      Fail(span,
           absl::StrCat("buffer ", buffer->name(), " has ", axes,
                        " physical axes, and its allocation ", *allocated));
    }
  }

  NodeMap<size_t> axes_;
};

template <typename Checker>
absl::Status CheckBodies(const IRModule& module) {
  return CheckFunctions(
      module, [](const PrimFunc& function) { return Checker().Of(function); });
}

BATON_REGISTER_MODULE_PROPERTY("tir.no_initializations",
                               {.doc = "No block has an initialization.",
                                .check = CheckBodies<Initializations>});
BATON_REGISTER_MODULE_PROPERTY(
    "tir.opaque_blocks", {.doc = "No block has variables or an initialization.",
                          .check = CheckBodies<BlockVariables>});
BATON_REGISTER_MODULE_PROPERTY(
    "tir.flat_allocations",
    {.doc = "The allocation of a buffer has as many axes as its memory: one, "
            "or one for each group of axes.",
     .check = CheckBodies<AllocatedAxes>});
BATON_REGISTER_MODULE_PROPERTY(
    "tir.has_targets", {.doc = "Functions of loops have the attribute target.",
                        .check = [](const IRModule& module) {
                          return CheckFunctions(
                              module, [](const PrimFunc& function) {
                                return RequiredTargetOf(function).status();
                              });
                        }});

}  // namespace
}  // namespace baton::tir
