// libacre-trace: allocation streams in the log format of RAPIDS RMM: reading, writing, recording
// what a manager serves, and replaying a stream through a manager.
//
//   Thread,Time,Action,Pointer,Size,Stream
//   0,00:00:00.000213,allocate,0x2,1024,0
//   0,00:00:00.004711,free,0x2,1024,0
//
// One event a line, below a header that names the columns; the reader takes them in any order and
// passes over columns it does not know.
//
//   Thread   a number
//   Time     HH:MM:SS.micros, or a number of seconds, with or without a fraction
//   Action   allocate | allocate failure | free
//   Pointer  hexadecimal with 0x; (nil) is 0
//   Size     bytes
//   Stream   a number, or hexadecimal like a pointer
//
// Files are plain or gzip: the reader looks at the content, the writer at the name.
//
//            file --> reader --> program --> replay --> manager --> recorder --> writer --> file
//
// Objects are used by one thread at a time; different objects are independent.
//
// The detail of an error about a file begins with the file, the line and the field:
// "trace.csv:7: Size: '99999999999999999999' does not fit 64 bits".
#ifndef ACRE_TRACE_H
#define ACRE_TRACE_H

#include <acre/event.h>
#include <acre/host.h>
#include <acre/manager.h>
#include <acre/status.h>
#include <acre/storage.h>

typedef enum acre_trace_action {
    ACRE_TRACE_ALLOCATE = 0,
    ACRE_TRACE_ALLOCATE_FAILURE = 1, // a request that was refused; its pointer is (nil)
    ACRE_TRACE_FREE = 2,
} acre_trace_action;

typedef struct acre_trace_event {
    size_t struct_size; // set by ACRE_TRACE_EVENT_INIT
    acre_trace_action action;
    uint64_t thread;
    uint64_t time;    // microseconds
    uint64_t pointer; // 0 = (nil)
    uint64_t size;    // bytes
    uint64_t stream;
    uint64_t line; // read: where it stands in the file, from 1; written: not looked at
} acre_trace_event;

#if defined(__cplusplus)
#define ACRE_TRACE_EVENT_INIT                                                                      \
    (acre_trace_event{sizeof(acre_trace_event), ACRE_TRACE_ALLOCATE, 0, 0, 0, 0, 0, 0})
#else
#define ACRE_TRACE_EVENT_INIT ((acre_trace_event){.struct_size = sizeof(acre_trace_event)})
#endif

// ---- reading -------------------------------------------------------------------------------

typedef struct acre_trace_reader acre_trace_reader;

typedef struct acre_trace_reader_options {
    size_t struct_size;           // set by ACRE_TRACE_READER_OPTIONS_INIT
    const acre_host_hooks *hooks; // NULL = the C library's allocator; copied
    bool lenient;                 // pass over lines that are wrong, and count them
} acre_trace_reader_options;

#if defined(__cplusplus)
#define ACRE_TRACE_READER_OPTIONS_INIT                                                             \
    (acre_trace_reader_options{sizeof(acre_trace_reader_options), nullptr, false})
#else
#define ACRE_TRACE_READER_OPTIONS_INIT                                                             \
    ((acre_trace_reader_options){.struct_size = sizeof(acre_trace_reader_options)})
#endif

// ---- writing -------------------------------------------------------------------------------

typedef struct acre_trace_writer acre_trace_writer;

typedef struct acre_trace_writer_options {
    size_t struct_size;           // set by ACRE_TRACE_WRITER_OPTIONS_INIT
    const acre_host_hooks *hooks; // NULL = the C library's allocator; copied
    int compression;              // gzip: 1 (fast) to 9 (small); 0 = 6
} acre_trace_writer_options;

#if defined(__cplusplus)
#define ACRE_TRACE_WRITER_OPTIONS_INIT                                                             \
    (acre_trace_writer_options{sizeof(acre_trace_writer_options), nullptr, 0})
#else
#define ACRE_TRACE_WRITER_OPTIONS_INIT                                                             \
    ((acre_trace_writer_options){.struct_size = sizeof(acre_trace_writer_options)})
#endif

// ---- recording -----------------------------------------------------------------------------

typedef struct acre_trace_recorder acre_trace_recorder;

typedef struct acre_trace_recorder_options {
    size_t struct_size;           // set by ACRE_TRACE_RECORDER_OPTIONS_INIT
    const acre_host_hooks *hooks; // NULL = the C library's allocator; copied
    uint64_t thread;              // what the Thread column says
    int compression;              // gzip: 1 (fast) to 9 (small); 0 = 1
} acre_trace_recorder_options;

#if defined(__cplusplus)
#define ACRE_TRACE_RECORDER_OPTIONS_INIT                                                           \
    (acre_trace_recorder_options{sizeof(acre_trace_recorder_options), nullptr, 0, 0})
#else
#define ACRE_TRACE_RECORDER_OPTIONS_INIT                                                           \
    ((acre_trace_recorder_options){.struct_size = sizeof(acre_trace_recorder_options)})
#endif

// The event_mask of a manager that a recorder listens to.
#define ACRE_TRACE_RECORDER_EVENTS                                                                 \
    ((uint32_t)ACRE_EVENT_RESERVE | (uint32_t)ACRE_EVENT_REFUSE | (uint32_t)ACRE_EVENT_FREE)

// ---- replaying -----------------------------------------------------------------------------

// A stream ready to be replayed: 16 bytes an event, pointers turned into small slot numbers.
typedef struct acre_trace_program acre_trace_program;

typedef struct acre_trace_facts {
    size_t struct_size;       // set by ACRE_TRACE_FACTS_INIT
    uint64_t events;          // to be replayed: allocations and frees
    uint64_t allocations;     // of those
    uint64_t failures;        // `allocate failure` lines, which are not replayed
    uint64_t skipped;         // lenient: lines passed over
    uint64_t peak_live_bytes; // the most requested bytes that live at a time
    uint64_t peak_live;       // the most allocations that live at a time
    uint64_t end_live_bytes;  // requested bytes that still live at the end
    uint64_t end_live;        // allocations that still live at the end
    uint64_t largest_size;    // bytes of the largest request
} acre_trace_facts;

#if defined(__cplusplus)
#define ACRE_TRACE_FACTS_INIT                                                                      \
    (acre_trace_facts{sizeof(acre_trace_facts), 0, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define ACRE_TRACE_FACTS_INIT ((acre_trace_facts){.struct_size = sizeof(acre_trace_facts)})
#endif

// Called now and then during a replay with the events done and to do over all passes.
typedef void (*acre_replay_progress_fn)(void *context, uint64_t done, uint64_t total);

// What relocations did in one pass.
typedef struct acre_replay_pass {
    uint64_t moves;
    uint64_t moved_bytes;
    uint64_t pages_given_back; // by the relocations' commits
} acre_replay_pass;

// A pool of the layout that has a cap, in a plan: what it measured and what it came to.
typedef struct acre_replay_pool {
    uint32_t index; // as in acre_manager_pool_report
    acre_pool_kind kind;
    uint64_t page_size;     // sliced: bytes of a page; else ACRE_UNSET
    uint64_t largest;       // bytes of the largest request it accepts
    uint64_t peak_measured; // the most page bytes held at a time, in the dry passes
    uint64_t peak_replayed; // the same in the real passes, capped at that
} acre_replay_pool;

typedef struct acre_replay_options {
    size_t struct_size;           // set by ACRE_REPLAY_OPTIONS_INIT
    const acre_host_hooks *hooks; // NULL = the C library's allocator; for the replay's own tables
    uint32_t passes;              // 0 = 3
    bool verify;                  // fill every allocation with a pattern, check it at its free
    acre_replay_progress_fn progress; // may be NULL; runs inside the timing
    void *progress_context;
    acre_replay_pass *pass_results; // filled in pass by pass, as far as it reaches; may be NULL
    size_t pass_capacity;           // passes that pass_results has room for
    bool dry_run;                   // inside a dry run (acre/dry_run.h): no device memory is taken
    bool plan; // `passes` dry ones, then as many real ones on the pools capped at what they held
    acre_replay_pool *plan_results; // plan: filled in, as far as it reaches; may be NULL
    size_t plan_capacity;           // pools that plan_results has room for
} acre_replay_options;

#if defined(__cplusplus)
#define ACRE_REPLAY_OPTIONS_INIT                                                                   \
    (acre_replay_options{sizeof(acre_replay_options), nullptr, 0, false, nullptr, nullptr,         \
                         nullptr, 0, false, false, nullptr, 0})
#else
#define ACRE_REPLAY_OPTIONS_INIT ((acre_replay_options){.struct_size = sizeof(acre_replay_options)})
#endif

// What a verification found.
typedef enum acre_replay_damage {
    ACRE_REPLAY_INTACT = 0,     // every pattern was whole, or nothing was verified
    ACRE_REPLAY_OVERWRITTEN = 1 // an allocation did not hold its pattern when it was freed
} acre_replay_damage;

typedef struct acre_replay_result {
    size_t struct_size;             // set by ACRE_REPLAY_RESULT_INIT
    uint64_t events;                // of one pass
    uint32_t passes;                // run to their end
    uint64_t peak_live_bytes;       // requested bytes; of the trace, refused requests included
    uint64_t peak_reserved_bytes;   // the most bytes the storage held, over all passes
    uint64_t padding_bytes_at_peak; // padding of what lived when it did
    uint64_t pages_peak;            // pages held when it did
    uint64_t device_allocs;         // allocations the device gave, over all passes
    uint64_t device_refused;        // and refused
    uint64_t device_frees;          // allocations given back, over all passes
    uint64_t failed;                // requests the manager refused, over all passes
    double ns_per_event_first;      // nanoseconds, first pass
    double ns_per_event_warm;       // nanoseconds, last pass

    // The first refused request, when failed > 0.
    acre_status first_failed_status;
    uint64_t first_failed_line; // of the trace
    uint64_t first_failed_size; // bytes
    char first_failed_text[384];

    // Verification. It ends the replay at the first damage.
    acre_replay_damage damage;
    uint32_t damage_pass;     // from 1
    uint64_t damaged_line;    // the allocation found damaged
    uint64_t damaged_size;    // bytes
    uint64_t damage_offset;   // bytes into it
    uint64_t overwriter_line; // the allocation whose bytes are there; 0 = none can be told
    uint64_t overwriter_size; // bytes

    // Dry runs and plans.
    uint64_t planned_peak_bytes; // the most page bytes the manager held in the dry passes
    uint32_t plan_pools;         // pools of the layout that have a cap
    uint32_t plan_unequal;       // those whose peaks differ
} acre_replay_result;

#if defined(__cplusplus)
#define ACRE_REPLAY_RESULT_INIT                                                                    \
    (acre_replay_result{                                                                           \
        sizeof(acre_replay_result), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, ACRE_OK, 0, 0, {0},    \
        ACRE_REPLAY_INTACT,         0, 0, 0, 0, 0, 0, 0, 0, 0})
#else
#define ACRE_REPLAY_RESULT_INIT ((acre_replay_result){.struct_size = sizeof(acre_replay_result)})
#endif

ACRE_BEGIN_DECLS

// ---- reading -------------------------------------------------------------------------------

// Opens a trace and reads its header. `options` may be NULL. Memory: a fixed buffer.
// Errors: IO_ERROR; MALFORMED_INPUT for an empty file or a header that lacks a column or names one
// twice, lenient or not; OUT_OF_HOST_MEMORY; UNSUPPORTED for unknown options.
ACRE_API ACRE_CHECKED acre_status acre_trace_reader_open(const char *path,
                                                         const acre_trace_reader_options *options,
                                                         acre_trace_reader **reader,
                                                         acre_error *error);

// The next event; `*more` is false, and `event` untouched, at the end of the file. Empty lines are
// passed over.
// Errors: MALFORMED_INPUT for a line that is wrong (a field that is missing, too many, not what
// its column holds, or a line over 64 KiB); the next call goes on behind it. A lenient reader
// passes over such a line instead, and over what is missing of a file that ends in the midst of
// its gzip data. Damaged gzip data (MALFORMED_INPUT), IO_ERROR and OUT_OF_HOST_MEMORY stay: every
// later call returns the same.
ACRE_API ACRE_CHECKED acre_status acre_trace_reader_next(acre_trace_reader *reader,
                                                         acre_trace_event *event, bool *more,
                                                         acre_error *error);

// How many lines were passed over so far. `first`, if not NULL, gets the error of the first one
// when there is one.
ACRE_API uint64_t acre_trace_reader_skipped(const acre_trace_reader *reader, acre_error *first);

// NULL is allowed.
ACRE_API void acre_trace_reader_close(acre_trace_reader *reader);

// ---- writing -------------------------------------------------------------------------------

// Creates or empties the file, which is gzip when its name ends in .gz, and writes the header.
// `options` may be NULL. Memory: fixed buffers. Errors: IO_ERROR, OUT_OF_HOST_MEMORY,
// INVALID_ARGUMENT for a compression out of range, UNSUPPORTED for unknown options.
ACRE_API ACRE_CHECKED acre_status acre_trace_writer_open(const char *path,
                                                         const acre_trace_writer_options *options,
                                                         acre_trace_writer **writer,
                                                         acre_error *error);

// Adds one event. Lines are gathered in a buffer, so an IO_ERROR such as a full disk may concern
// earlier ones; it stays, and every later call returns it. INVALID_ARGUMENT for an unknown action.
ACRE_API ACRE_CHECKED acre_status acre_trace_writer_write(acre_trace_writer *writer,
                                                          const acre_trace_event *event,
                                                          acre_error *error);

// Writes what is left, closes the file and frees the writer, also on an error. Returns the first
// error of the writer's life: only ACRE_OK says that the file is whole. NULL is allowed.
ACRE_API ACRE_CHECKED acre_status acre_trace_writer_close(acre_trace_writer *writer,
                                                          acre_error *error);

// ---- recording -----------------------------------------------------------------------------

// A recorder that writes to `path`, as a writer does. To record a manager, create it with
//   .event = acre_trace_recorder_listen, .event_context = recorder,
//   .event_mask = ACRE_TRACE_RECORDER_EVENTS
// and close the recorder after the manager is gone. A recorder serves one manager.
//
// It numbers allocations 1, 2, 3, ... in the order they are served, so that no pointer appears
// twice; a free names the stream that allocated; a refused reservation is an `allocate failure`.
// Time runs from the opening of the recorder.
//
// Cost: fixed buffers and 16 bytes of host memory for each allocation that lives at a time; an
// event costs one reading of the clock and one formatted line, and every 64 KiB of lines one write
// to the file. Errors: those of acre_trace_writer_open.
ACRE_API ACRE_CHECKED acre_status
acre_trace_recorder_open(const char *path, const acre_trace_recorder_options *options,
                         acre_trace_recorder **recorder, acre_error *error);

// The listener to give to the manager, with the recorder as its context. It never disturbs the
// manager: an error is kept for acre_trace_recorder_close and ends the recording.
ACRE_API void acre_trace_recorder_listen(void *recorder, const acre_event *event);

// Ends the recording as acre_trace_writer_close does and returns the first error of its life, also
// OUT_OF_HOST_MEMORY. NULL is allowed.
ACRE_API ACRE_CHECKED acre_status acre_trace_recorder_close(acre_trace_recorder *recorder,
                                                            acre_error *error);

// ---- replaying -----------------------------------------------------------------------------

// Reads all that is left of `reader` into a program. `hooks` may be NULL and are copied.
//
// Beside the reader's errors, MALFORMED_INPUT for a free of a pointer that is not allocated, a
// pointer allocated while it lives, a (nil) allocation of more than 0 bytes, and when the bytes
// that live at a time pass 2^63; a lenient reader passes over these lines too. Several (nil)
// allocations of 0 bytes may live at a time. The size on a free's line is not compared.
ACRE_API ACRE_CHECKED acre_status acre_trace_program_load(acre_trace_reader *reader,
                                                          const acre_host_hooks *hooks,
                                                          acre_trace_program **program,
                                                          acre_error *error);

ACRE_API void acre_trace_program_facts(const acre_trace_program *program, acre_trace_facts *facts);

// NULL is allowed.
ACRE_API void acre_trace_program_destroy(acre_trace_program *program);

// Replays `program` on a manager of its own, created on `storage` with the options `manager` (NULL
// = defaults) and destroyed at the end. The manager is kept over the passes; what still lives at
// the end of a pass is released then, outside the timing. A refused request is counted, its free is
// passed over, and the replay goes on. The clock is read at the ends of a pass only.
//
// A listener in `manager` keeps getting the events it asked for. `storage` should be fresh: its
// high-water is the result's peak. When the pages held at the peak are looked at, the operation
// that reached it has ended.
//
// With `dry_run` a dry run is open, for the whole process, while the passes run: the storage's peak
// stays 0, planned_peak_bytes says what the pages would have come to on a device that never
// refuses, and what is noted at the peak is noted at that one. A real replay that the device
// refuses nothing has the same peak, unless relocations change what it holds.
//
// With `plan` the passes first run dry. Then the layout is installed anew with the pools of
// acre_manager_measured_pools, each capped at its peak, and the passes run for real on the same
// manager. The result is that of the real passes; `failed` counts in both, progress runs over both.
//
// Errors: those of acre_manager_create; OUT_OF_HOST_MEMORY; with `verify`, UNSUPPORTED when the
// storage has no bytes to write and read, and errors of acre_manager_resolve and
// acre_storage_write; with `plan`, UNSUPPORTED when no pool of the layout has a cap, and errors of
// acre_manager_install_layout; INVALID_ARGUMENT for `dry_run` with `verify` or `plan`. Refused
// requests, damage and unequal peaks are results, not errors. On an error `result` is untouched.
ACRE_API ACRE_CHECKED acre_status acre_replay_run(const acre_trace_program *program,
                                                  acre_storage *storage,
                                                  const acre_manager_options *manager,
                                                  const acre_replay_options *options,
                                                  acre_replay_result *result, acre_error *error);

ACRE_END_DECLS

#endif
