// A recorded stream whose events are timed one by one, for the tails of a replay: acre_replay_run
// reads the clock at the ends of a pass only.
#ifndef ACRE_BENCH_STREAM_H
#define ACRE_BENCH_STREAM_H

#include "bench.h"

typedef struct bench_stream bench_stream;

// Reads the allocations and frees of a trace that libacre-trace takes, or ends the program.
bench_stream *bench_stream_load(const char *path);
void bench_stream_free(bench_stream *stream);

// Runs the stream twice on a fresh manager; the events of the second time are timed.
void bench_stream_time(bench_stream *stream, const acre_layout *layout, bench_tails *tails);

// What replays run on.
acre_simulated_storage_params bench_replay_device(void);

#endif
