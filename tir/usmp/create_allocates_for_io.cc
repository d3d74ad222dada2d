#include "baton/tir/usmp/create_allocates_for_io.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/tir/usmp/call_visitor.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Finds which buffers of parameters are read, and which are written.
class AccessFinder final : public CallVisitor {
 public:
  AccessFinder(const IRModule& module, const PrimFunc& main)
      : CallVisitor(module),
        is_read_(main->buffers().size()),
        is_written_(main->buffers().size()) {
    for (size_t i = 0; i < main->buffers().size(); ++i) {
      PointTo(main->buffers()[i]->data().get(), static_cast<int>(i));
    }
  }
  bool IsRead(size_t buffer) const { return is_read_[buffer]; }
  bool IsWritten(size_t buffer) const { return is_written_[buffer]; }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Mark(node->buffer(), is_read_);
    CallVisitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Mark(node->buffer(), is_written_);
    CallVisitor::VisitBufferStore(node);
  }
  void VisitCall(const CallNode* node) override {
    // The address of an element is no access to it.
    const auto* op = node->op().As<OpNode>();
    const auto* load = op != nullptr && op->name() == "tir.address_of" &&
                               node->args().size() == 1
                           ? node->args()[0].As<BufferLoadNode>()
                           : nullptr;
    if (load == nullptr) return CallVisitor::VisitCall(node);
    VisitAll(load->indices());
  }

 private:
  void Mark(const Buffer& buffer, std::vector<bool>& marks) {
    for (const int memory : MemoriesOf(buffer->data().get())) {
      marks[static_cast<size_t>(memory)] = true;
    }
  }

  std::vector<bool> is_read_;
  std::vector<bool> is_written_;
};

// Indices of the parameters of `main` that are pools.
FlatHashSet<int64_t> PoolParams(const PrimFunc& main) {
  FlatHashSet<int64_t> result;
  const AttrValue* pools = main->attrs().Find(kPoolArgsAttr);
  const PrimExpr list = pools == nullptr ? PrimExpr() : ExprOfAttr(*pools);
  const auto* node = list.defined() ? list.As<ListNode>() : nullptr;
  if (node == nullptr) return result;
  for (const PrimExpr& item : node->items()) {
    const auto* pool = item.As<DictNode>();
    int64_t index = 0;
    if (pool != nullptr && IntegerOf(pool->Find("pool_var_idx"), index)) {
      result.insert(index);
    }
  }
  return result;
}

absl::StatusOr<PrimFunc> WithAllocations(const PrimFunc& main,
                                         const IRModule& module) {
  const FlatHashSet<int64_t> pools = PoolParams(main);
  AccessFinder finder(module, main);
  BATON_RETURN_IF_ERROR(finder.VisitFrom(main));
  PrimFuncNode::Parts parts = main->parts();
  parts.params.clear();
  parts.buffers.clear();
  size_t index = 0;  // of the next buffer
  for (size_t i = 0; i < main->params().size(); ++i) {
    const Var& param = main->params()[i];
    const Buffer buffer = main->BufferOf(static_cast<int>(i));
    if (!buffer.defined() || pools.contains(static_cast<int64_t>(i))) {
      if (buffer.defined()) {
        parts.buffers.push_back(
            {static_cast<int64_t>(parts.params.size()), buffer});
        ++index;
      }
      parts.params.push_back(param);
      continue;
    }
    const size_t number = index++;
    if (finder.IsRead(number) == finder.IsWritten(number)) {
      return ErrorAt(
          main->span(),
          absl::StrCat("buffer ", buffer->name(), " is ",
                       finder.IsRead(number) ? "both" : "neither",
                       " an input and an output: it is ",
                       finder.IsRead(number) ? "read and written"
                                             : "neither read nor written"));
    }
    if (AllocationBytes(buffer->dtype(), buffer->shape()) < 0) {
      return ErrorAt(main->span(),
                     absl::StrCat("the extents of buffer ", buffer->name(),
                                  " are not constant"));
    }
    if (!buffer->strides().empty() ||
        (buffer->elem_offset().defined() && !IsZero(buffer->elem_offset()))) {
      return ErrorAt(main->span(),
                     absl::StrCat("buffer ", buffer->name(),
                                  " has strides or an offset: it cannot "
                                  "become an allocation"));
    }
    const absl::string_view key =
        finder.IsRead(number) ? kInputTensor : kOutputTensor;
    parts.body = Allocate(
        buffer->data(), buffer->dtype(),
        {buffer->shape().begin(), buffer->shape().end()}, IntImm::Bool(true),
        Dict::Of({{std::string(key), StringImm(param->name())}}),
        std::move(parts.body), main->span());
  }
  if (parts.params.size() == main->params().size()) return main;
  return WithParts(main, std::move(parts));
}

}  // namespace

Pass CreateAllocatesForIO(CreateAllocatesForIOOptions options) {
  return CreateModulePass(
      [options](IRModule module,
                const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        BATON_ASSIGN_OR_RETURN(const GlobalVar var,
                               MainFunctionOf(module, options.main_function));
        if (!var.defined()) return module;
        const auto main = module.Find<PrimFunc>(var->name());
        BATON_ASSIGN_OR_RETURN(PrimFunc result, WithAllocations(main, module));
        if (result != main) module.Set(var, std::move(result));
        return module;
      },
      {.name = "tir.usmp.CreateAllocatesForIO",
       .doc = "Makes inputs and outputs of the main function allocations.",
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS_AS("tir.usmp.CreateAllocatesForIO", CreateAllocatesForIO);

}  // namespace baton::tir
