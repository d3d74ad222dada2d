// PassInfo: the name, level, documentation and promises of a pass.

#ifndef BATON_TRANSFORM_PASS_INFO_H_
#define BATON_TRANSFORM_PASS_INFO_H_

#include <string>
#include <vector>

namespace baton {

// The unit on which a pass works.
enum class PassGranularity {
  kModule,    // a whole module at once
  kFunction,  // one function at a time
  kSequence,  // other passes
};

// A waiver: a law of testing/pass_laws.h that a pass does not keep, and why.
struct LawWaiver {
  std::string law;  // `no_op`
  std::string reason;
};

// Write it with designated initializers, in this order:
//
//   {.name = "FuseOps",
//    .required = {"InferType"},
//    .doc = "Groups calls into primitive functions.",
//    .idempotent = true}
struct PassInfo {
  std::string name;
  // A Sequential runs the pass if the context's level is at least this.
  int opt_level = 0;
  // Names of the passes that a Sequential runs before this one.
  std::vector<std::string> required = {};
  // One line; a longer explanation may follow an empty line.
  std::string doc = {};

  // Properties of programs, by name (module_property.h): those that the pass
  // requires, those that it establishes, and those that it may invalidate.
  std::vector<std::string> needs = {};
  std::vector<std::string> establishes = {};
  std::vector<std::string> invalidates = {};

  // Promises; the tests of all passes check them.

  // Running the pass on its own result changes nothing.
  bool idempotent = false;
  // Bit-exact: the results of the program keep their bits. For a pass that
  // reassociates floating-point arithmetic it is false, and `tolerance` is the
  // limit of the relative error.
  bool exact = true;
  double tolerance = 1e-5;
  // Applies the rules of the context's target, if it has one: the pass is then
  // not bit-exact.
  bool uses_target = false;

  // Waivers for the other laws that the pass does not keep.
  std::vector<LawWaiver> waivers = {};

  // Options, as written in a pipeline between the braces: `inline_once=true`.
  // The tests of all passes run this pass with each of them, in addition to the
  // defaults. A pass with required options has at least one example.
  std::vector<std::string> examples = {};

  // For passes that do not optimize (inference, printing): bisection neither
  // skips nor counts them.
  bool always_run = false;

  // Set by the function that creates the pass.
  PassGranularity granularity = PassGranularity::kModule;

  // The text of the pass in traces, for example:
  //   The meta data of the pass - pass name: FoldConstant, opt_level: 2,
  //   required passes: []
  // on one line that ends in a line feed.
  std::string ToString() const;
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_INFO_H_
