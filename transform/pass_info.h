// PassInfo: what a pass says of itself.

#ifndef BATON_TRANSFORM_PASS_INFO_H_
#define BATON_TRANSFORM_PASS_INFO_H_

#include <string>
#include <vector>

namespace baton {

// What a pass works on.
enum class PassGranularity {
  kModule,    // a whole module at once
  kFunction,  // one function at a time
  kSequence,  // other passes
};

// A law of testing/pass_laws.h that a pass does not keep.
struct PassException {
  std::string law;  // `no_op`
  std::string reason;
};

// Written with designated initializers, in this order:
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

  // Promises, which tests hold the pass to.

  // Run on its own result, it changes nothing.
  bool idempotent = false;
  // Results of the program keep their bits. A pass that reassociates
  // floating-point arithmetic says false, and the relative error that results
  // stay within.
  bool exact = true;
  double tolerance = 1e-5;

  // The other laws that it does not keep.
  std::vector<PassException> exceptions = {};

  // Options, as pipelines write them between the braces, that tests of all
  // passes run it with, besides the defaults: `inline_once=true`. A pass with
  // options that must be given has one at least.
  std::vector<std::string> examples = {};

  // For passes that do not optimize (inference, printing): bisection neither
  // skips nor counts them.
  bool always_run = false;

  // Set by the function that creates the pass.
  PassGranularity granularity = PassGranularity::kModule;

  // The text that traces print, for example:
  //   The meta data of the pass - pass name: FoldConstant, opt_level: 2,
  //   required passes: []
  // (one line), ending in a line feed.
  std::string ToString() const;
};

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_INFO_H_
