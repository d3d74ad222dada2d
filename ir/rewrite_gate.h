// MayRewrite: lets an instrument limit and leave out single rewrites of a pass.
//
//   if (!MayRewrite()) return {};  // the call stays as it is
//
// Every rewriting framework calls MayRewrite() right before it does a rewrite
// that it could also leave out. Without a gate, the call costs one test of a
// thread-local pointer.

#ifndef BATON_IR_REWRITE_GATE_H_
#define BATON_IR_REWRITE_GATE_H_

#include <cstdint>

namespace baton {

// Decides which rewrites of the running pass are done. Rewrites are numbered
// from 1, in the order of the functions; a function pass runs on one thread
// while a gate is installed.
class RewriteGate {
 public:
  virtual ~RewriteGate() = default;

  // The number of rewrites that the pass has requested, refused ones too.
  int64_t num_requests() const { return num_requests_; }

  bool MayRewrite() { return Allows(++num_requests_); }

 private:
  virtual bool Allows(int64_t number) = 0;

  int64_t num_requests_ = 0;
};

namespace internal {

// The gate of the running pass on this thread; null for none.
inline thread_local constinit RewriteGate* rewrite_gate = nullptr;

}  // namespace internal

// False if the gate of the running pass refuses the rewrite.
inline bool MayRewrite() {
  return internal::rewrite_gate == nullptr ||
         internal::rewrite_gate->MayRewrite();
}

}  // namespace baton

#endif  // BATON_IR_REWRITE_GATE_H_
