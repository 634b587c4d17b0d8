#include "storage/library.h"

#include "base/error.h"
#include "base/os.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

acre_status acre_library_open(const char *path, const char *advice, void **library,
                              acre_error *error) {
    char why[sizeof error->native_text];
    *library = acre_os_library(path, why, sizeof why);
    if (*library != NULL) {
        return ACRE_OK;
    }
    acre_error_native(error, ACRE_UNSUPPORTED, 0, 0, why);
    bool missing = strstr(why, "No such file") != NULL;
    snprintf(error->detail, sizeof error->detail, "%.60s %s: %s", path,
             missing ? "is not here" : "cannot be loaded", advice);
    return ACRE_UNSUPPORTED;
}

acre_status acre_library_functions(void *library, const acre_library_function *functions,
                                   size_t count, void *table, const char *advice,
                                   acre_error *error) {
    for (size_t i = 0; i < count; i++) {
        void *address = acre_os_symbol(library, functions[i].name);
        if (address == NULL) {
            return acre_error_set(error, ACRE_UNSUPPORTED, "the driver lacks %s: %s",
                                  functions[i].name, advice);
        }
        // A function pointer has the size of a data pointer wherever dlsym is.
        memcpy((char *)table + functions[i].offset, &address, sizeof address);
    }
    return ACRE_OK;
}
