// Macros that make identifiers.

#ifndef BATON_BASE_MACROS_H_
#define BATON_BASE_MACROS_H_

// Joins two tokens after macro expansion.
#define BATON_CONCAT(a, b) BATON_CONCAT_IMPL_(a, b)
#define BATON_CONCAT_IMPL_(a, b) a##b

// Expands to a new identifier that begins with `prefix`, for variables at
// namespace scope that macros of registrations define.
#define BATON_UNIQUE_NAME(prefix) BATON_CONCAT(prefix, __COUNTER__)

#endif  // BATON_BASE_MACROS_H_
