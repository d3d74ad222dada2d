#include "baton/tir/transform/verify_gpu_code.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

int64_t BytesOf(DType dtype) {
  return int64_t{(dtype.bits() + 7) / 8} * dtype.lanes();
}

class LimitChecker final : public Visitor {
 public:
  explicit LimitChecker(const VerifyGPUCodeOptions& limits) : limits_(limits) {}
  const std::vector<std::string>& errors() const { return errors_; }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    Visitor::VisitAllocate(node);
    int64_t bytes = BytesOf(node->dtype());
    for (const PrimExpr& extent : node->extents()) {
      const auto* imm = extent.As<IntImmNode>();
      if (imm == nullptr) bytes = 0;  // not known
      if (imm != nullptr &&
          __builtin_mul_overflow(bytes, imm->value(), &bytes)) {
        bytes = VerifyGPUCodeOptions::kNoLimit;
      }
    }
    const MemoryRank rank = MemoryScope(node->var()->scope()).rank;
    if (rank == MemoryRank::kLocal) local_bytes_ = Sum(local_bytes_, bytes);
    if (rank == MemoryRank::kShared) shared_bytes_ = Sum(shared_bytes_, bytes);
    CheckVector(node->dtype());
  }

  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* iter = node->node().As<IterVarNode>();
    if (iter == nullptr ||
        (node->key() != "thread_extent" && node->key() != "virtual_thread")) {
      return Visitor::VisitAttrStmt(node);
    }
    if (depth_ == 0) {
      local_bytes_ = shared_bytes_ = 0;
      threads_ = 1;
      extents_.clear();
      ++kernels_;
    }
    if (const auto* extent = node->value().As<IntImmNode>()) {
      AddThread(iter->thread_tag(), extent->value());
    }
    ++depth_;
    Visitor::VisitAttrStmt(node);
    if (--depth_ > 0) return;
    Check("threads per block", threads_, limits_.max_threads_per_block);
    Check("local memory per block", local_bytes_,
          limits_.max_local_memory_per_block);
    Check("shared memory per block", shared_bytes_,
          limits_.max_shared_memory_per_block);
    Check("kernels", kernels_, limits_.max_kernels);
  }

  void VisitFor(const ForNode* node) override {
    // A loop of virtual threads, as InjectVirtualThread makes it.
    const std::string& name = node->loop_var()->name();
    const auto* extent = node->extent().As<IntImmNode>();
    if (extent != nullptr && (name == "vthread.s" || name == "vthread_s")) {
      Check("vthread", extent->value(), limits_.max_vthread);
    }
    Visitor::VisitFor(node);
  }

  void VisitCast(const CastNode* node) override {
    CheckVector(node->dtype());
    Visitor::VisitCast(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    CheckAccess(node->dtype(), node->indices());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    CheckAccess(node->value().dtype(), node->indices());
    Visitor::VisitBufferStore(node);
  }

 private:
  static int64_t Sum(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? VerifyGPUCodeOptions::kNoLimit
                                              : sum;
  }

  void AddThread(const std::string& tag, int64_t extent) {
    const bool is_thread = absl::StartsWith(tag, "threadIdx.");
    if (!is_thread && tag != "vthread") return;
    const auto [known, is_new] = extents_.try_emplace(tag, extent);
    if (!is_new) {
      if (is_thread && known->second != extent) {
        errors_.push_back(absl::StrCat("the extent of ", tag, " is ", extent,
                                       ", and ", known->second, " before"));
      }
      return;
    }
    if (__builtin_mul_overflow(threads_, extent, &threads_)) {
      threads_ = VerifyGPUCodeOptions::kNoLimit;
    }
    const int64_t limit = tag == "threadIdx.x"   ? limits_.max_thread_x
                          : tag == "threadIdx.y" ? limits_.max_thread_y
                          : tag == "threadIdx.z" ? limits_.max_thread_z
                                                 : limits_.max_vthread;
    Check(tag, extent, limit);
  }

  void CheckAccess(DType dtype, absl::Span<const PrimExpr> indices) {
    if (dtype.lanes() <= 1) return;
    CheckVector(dtype);
    for (const PrimExpr& index : indices) {
      const auto* ramp = index.As<RampNode>();
      if (ramp != nullptr && !IsOne(ramp->stride())) CheckVector(ramp->dtype());
    }
  }
  void CheckVector(DType dtype) {
    if (dtype.lanes() <= 1) return;
    Check(absl::StrCat("bytes of ", dtype.ToString()), BytesOf(dtype),
          limits_.max_vector_bytes);
  }

  void Check(absl::string_view what, int64_t number, int64_t limit) {
    if (number <= limit) return;
    errors_.push_back(absl::StrCat(what, ": ", number, " of ", limit));
  }

  const VerifyGPUCodeOptions limits_;
  // Counts of the current kernel.
  int depth_ = 0;
  int64_t local_bytes_ = 0;
  int64_t shared_bytes_ = 0;
  int64_t threads_ = 1;
  std::map<std::string, int64_t> extents_;
  // Counts of the function.
  int64_t kernels_ = 0;
  std::vector<std::string> errors_;
};

}  // namespace

Pass VerifyGPUCode(VerifyGPUCodeOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        LimitChecker checker(options);
        checker.Visit(function->body());
        if (checker.errors().empty()) return function;
        return ErrorAt(function->span(),
                       absl::StrCat("the device allows less: ",
                                    absl::StrJoin(checker.errors(), "; ")));
      },
      {.name = "tir.VerifyGPUCode",
       .doc = "Checks that kernels keep to the limits of a device.",
       .idempotent = true,
       .examples = {"max_threads_per_block=1024"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.VerifyGPUCode", VerifyGPUCode);

}  // namespace baton::tir
