/* What a child that runs under Valgrind's callgrind asks of it. Without Valgrind these requests do nothing. */

#include <valgrind/callgrind.h>

int opperf_is_counting(void) { return RUNNING_ON_VALGRIND; }

void opperf_start(void) { CALLGRIND_START_INSTRUMENTATION; }

void opperf_stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }

/* Write the counts since the last call of this or of `opperf_zero` into a file. */
void opperf_write(void) { CALLGRIND_DUMP_STATS; }

void opperf_zero(void) { CALLGRIND_ZERO_STATS; }

/* The widest vectors that this process sees the processor have. Valgrind shows fewer than there are. */
const char *opperf_instruction_set(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
    if (__builtin_cpu_supports("avx")) return "avx";
    return "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "unknown";
#endif
}
