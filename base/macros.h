// Names that macros make.

#ifndef BATON_BASE_MACROS_H_
#define BATON_BASE_MACROS_H_

// One token of two, after the macros in them are expanded.
#define BATON_CONCAT(a, b) BATON_CONCAT_IMPL_(a, b)
#define BATON_CONCAT_IMPL_(a, b) a##b

// A name that begins with `prefix` and that each use makes anew; for variables
// at namespace scope, as macros of registrations define.
#define BATON_UNIQUE_NAME(prefix) BATON_CONCAT(prefix, __COUNTER__)

#endif  // BATON_BASE_MACROS_H_
