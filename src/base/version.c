#include <acre/base.h>

#define ACRE_STRING(x)       #x
#define ACRE_DOTTED(a, b, c) ACRE_STRING(a) "." ACRE_STRING(b) "." ACRE_STRING(c)

const char *acre_version(void) {
    return ACRE_DOTTED(ACRE_VERSION_MAJOR, ACRE_VERSION_MINOR, ACRE_VERSION_PATCH);
}
