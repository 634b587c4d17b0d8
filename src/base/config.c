// ACRE_CONF: parsing of key:value settings.
#include <acre/config.h>

#include "base/error.h"
#include "base/structs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    const char *word;
    int value;
} choice;

static const choice persistent_choices[] = {{"enabled", ACRE_PERSISTENT_ENABLED},
                                            {"size-match", ACRE_PERSISTENT_SIZE_MATCH},
                                            {"disabled", ACRE_PERSISTENT_DISABLED},
                                            {"enforced", ACRE_PERSISTENT_ENFORCED},
                                            {NULL, 0}};
static const choice level_choices[] = {
    {"disabled", ACRE_LOG_DISABLED}, {"basic", ACRE_LOG_BASIC}, {"full", ACRE_LOG_FULL}, {NULL, 0}};

// A piece of text that is not ended by a 0.
typedef struct piece {
    const char *start;
    size_t length;
} piece;

static piece trimmed(const char *start, const char *end) {
    while (start < end && isspace((unsigned char)*start)) {
        start++;
    }
    while (end > start && isspace((unsigned char)end[-1])) {
        end--;
    }
    return (piece){start, (size_t)(end - start)};
}

static bool is_word(piece text, const char *word) {
    return text.length == strlen(word) && memcmp(text.start, word, text.length) == 0;
}

static acre_status choose(const choice *choices, const char *key, piece value, int *chosen,
                          acre_error *error) {
    for (const choice *at = choices; at->word != NULL; at++) {
        if (is_word(value, at->word)) {
            *chosen = at->value;
            return ACRE_OK;
        }
    }
    char words[80] = "";
    for (const choice *at = choices; at->word != NULL; at++) {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s%s", used == 0 ? "" : ", ", at->word);
    }
    return acre_error_set(error, ACRE_INVALID_ARGUMENT, "%s cannot be \"%.*s\"; it is one of %s",
                          key, (int)acre_min(value.length, 40), value.start, words);
}

static acre_status set(acre_config *config, piece key, piece value, acre_error *error) {
    int chosen = 0;
    acre_status status;
    if (is_word(key, "persistent_memory")) {
        status = choose(persistent_choices, "persistent_memory", value, &chosen, error);
        if (status == ACRE_OK) {
            config->persistent_memory = (acre_persistent_memory)chosen;
        }
        return status;
    }
    if (is_word(key, "log_level")) {
        status = choose(level_choices, "log_level", value, &chosen, error);
        if (status == ACRE_OK) {
            config->log_level = (acre_log_level)chosen;
        }
        return status;
    }
    if (is_word(key, "log_target")) {
        if (value.length == 0 || value.length >= sizeof config->log_target) {
            return acre_error_set(
                error, ACRE_INVALID_ARGUMENT,
                "log_target must be stderr, stdout or a path of at most %zu bytes",
                sizeof config->log_target - 1);
        }
        memset(config->log_target, 0, sizeof config->log_target);
        memcpy(config->log_target, value.start, value.length);
        return ACRE_OK;
    }
    if (is_word(key, "pools") || is_word(key, "layout")) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "%.*s is not a setting: set layouts in code, per workload, with "
                              "acre_manager_options or acre_manager_install_layout",
                              (int)key.length, key.start);
    }
    return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                          "unknown key \"%.*s\"; the keys are persistent_memory, log_level, "
                          "log_target",
                          (int)acre_min(key.length, 40), key.start);
}

// One `key:value`; an empty piece is skipped.
static acre_status parse_setting(acre_config *config, const char *start, const char *end,
                                 acre_error *error) {
    piece all = trimmed(start, end);
    if (all.length == 0) {
        return ACRE_OK;
    }
    const char *colon = memchr(all.start, ':', all.length);
    if (colon == NULL) {
        return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                              "\"%.*s\" has no value; write key:value",
                              (int)acre_min(all.length, 40), all.start);
    }
    return set(config, trimmed(all.start, colon), trimmed(colon + 1, all.start + all.length),
               error);
}

static acre_status parse_text(acre_config *config, const char *text, acre_error *error) {
    acre_config read = ACRE_CONFIG_INIT;
    if (!acre_struct_read(&read, sizeof read, config)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the configuration has fields this version does not know");
    }
    const char *at = text;
    while (*at != '\0') {
        const char *end = at + strcspn(at, ",");
        acre_status status = parse_setting(&read, at, end, error);
        if (status != ACRE_OK) {
            return status;
        }
        at = *end == ',' ? end + 1 : end;
    }
    acre_struct_write(config, &read, sizeof read);
    return ACRE_OK;
}

acre_status acre_config_parse(acre_config *config, const char *text, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, parse_text(config, text, detail));
}

// Puts file and line before the detail.
static acre_status locate(acre_error *error, acre_status status, const char *path, unsigned line) {
    char detail[sizeof error->detail];
    memcpy(detail, error->detail, sizeof detail);
    return acre_error_set(error, status, "%.60s:%u: %.90s", path, line, detail);
}

static acre_status parse_file(acre_config *config, FILE *file, const char *path,
                              acre_error *error) {
    char line[1024];
    for (unsigned number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        size_t length = strlen(line);
        if ((length == 0 || line[length - 1] != '\n') && !feof(file)) {
            return acre_error_set(error, ACRE_INVALID_ARGUMENT,
                                  "%.60s:%u: the line is too long or not text", path, number);
        }
        piece all = trimmed(line, line + length);
        if (all.length == 0 || all.start[0] == '#') {
            continue;
        }
        acre_status status = parse_setting(config, all.start, all.start + all.length, error);
        if (status != ACRE_OK) {
            return locate(error, status, path, number);
        }
    }
    if (ferror(file)) {
        return acre_error_set(error, ACRE_IO_ERROR, "%.100s: %s", path, strerror(errno));
    }
    return ACRE_OK;
}

static acre_status read_file(acre_config *config, const char *path, acre_error *error) {
    acre_config read = ACRE_CONFIG_INIT;
    if (!acre_struct_read(&read, sizeof read, config)) {
        return acre_error_set(error, ACRE_UNSUPPORTED,
                              "the configuration has fields this version does not know");
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return acre_error_set(error, ACRE_IO_ERROR, "%.100s: %s", path, strerror(errno));
    }
    acre_status status = parse_file(&read, file, path, error);
    fclose(file);
    if (status == ACRE_OK) {
        acre_struct_write(config, &read, sizeof read);
    }
    return status;
}

acre_status acre_config_read_file(acre_config *config, const char *path, acre_error *error) {
    acre_error local;
    acre_error *detail = acre_error_open(error, &local);
    return acre_error_close(error, detail, read_file(config, path, detail));
}

acre_status acre_config_read_environment(acre_config *config, acre_error *error) {
    const char *text = getenv("ACRE_CONF");
    return text == NULL ? ACRE_OK : acre_config_parse(config, text, error);
}
