// Drivers are libraries that are opened when they are needed: a program starts where they are
// absent, and is told what is missing.
#ifndef ACRE_STORAGE_LIBRARY_H
#define ACRE_STORAGE_LIBRARY_H

#include <acre/status.h>

// Opens a driver's library. => UNSUPPORTED with the system's sentence as native text and, as the
// detail, the library's name and `advice`: what to install.
acre_status acre_library_open(const char *path, const char *advice, void **library,
                              acre_error *error);

// One function of a table of function pointers: its name, and where its pointer is in the table.
typedef struct acre_library_function {
    const char *name;
    size_t offset;
} acre_library_function;

// Fills in a table from a library. => UNSUPPORTED with the name of the first function that is
// missing and `advice`.
acre_status acre_library_functions(void *library, const acre_library_function *functions,
                                   size_t count, void *table, const char *advice,
                                   acre_error *error);

#endif
