// What every public header needs: visibility, attributes, the version, the unset value.
#ifndef ACRE_BASE_H
#define ACRE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACRE_VERSION_MAJOR 0
#define ACRE_VERSION_MINOR 1
#define ACRE_VERSION_PATCH 0

#if defined(_WIN32)
#if defined(ACRE_STATIC)
#define ACRE_API
#elif defined(ACRE_BUILDING)
#define ACRE_API __declspec(dllexport)
#else
#define ACRE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ACRE_API __attribute__((visibility("default")))
#else
#define ACRE_API
#endif

// The result must be looked at: ignoring an error is a warning.
#if defined(__GNUC__)
#define ACRE_CHECKED __attribute__((warn_unused_result))
#else
#define ACRE_CHECKED
#endif

#if defined(__cplusplus)
#define ACRE_BEGIN_DECLS extern "C" {
#define ACRE_END_DECLS   }
#else
#define ACRE_BEGIN_DECLS
#define ACRE_END_DECLS
#endif

// The value of an option that was not set. 0 is a value: a cap of 0 means no memory at all.
#define ACRE_UNSET UINT64_MAX

ACRE_BEGIN_DECLS

// The version of the library that is running, such as "0.1.0". It differs from the macros above
// when a program was built against another version. Any thread.
ACRE_API const char *acre_version(void);

ACRE_END_DECLS

#endif
