/* Serves blocks of memory at places that a seed decides, so that two processes meet the same ones.
 *
 * Loaded ahead of the C library (LD_PRELOAD). Until `opperf_place` is called with a seed it hands everything on to
 * glibc. From then on, a block of LEAST bytes or more begins at an offset that follows from the seed, from its size,
 * and from how many new blocks of that size there were before: two processes with the same seed that ask for the same
 * blocks get the same low bits, and as long as they ask in the same order, the same distances between blocks.
 *
 * - Offsets are multiples of the alignment that was asked for, and are drawn anew with each seed.
 * - A block that was freed serves the next request for as much, last in, first out, as glibc's own blocks mostly do. So
 *   the result of a call lies where that of the call before did, and no page is touched for the first time.
 * - Blocks from MOST bytes on are left to glibc, which maps them anew for each call where opperf fixes its thresholds.
 * - Blocks of an earlier seed stay where they are; they are unmapped once they are freed.
 * - Nothing is mapped writable before it is used, so that a limit of data (RLIMIT_DATA) counts what is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LEAST 4096UL
#define MOST ((32UL << 20) - 65536)
#define RANGE (1UL << 40)
#define STEP 65536UL /* offsets lie below this, and so do the steps between blocks */
#define FREE 1024
#define KINDS 1024

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

/* What lies ahead of a block; `lead` is how far the block lies behind the start of its span. */
struct head {
    _Alignas(16) size_t capacity;
    uint32_t era, lead, align;
};

static uintptr_t base, range, next;
static uint64_t seed;
static uint32_t era;
static int lock, depth;
static size_t live, served; /* how many sizes from LEAST on are served: none without a seed */
static struct {
    char *block;
    size_t capacity, align;
} unused[FREE];
static uint32_t counts[KINDS];

static void enter(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void leave(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

static uint64_t mix(uint64_t x) { /* the finalizer of splitmix64 */
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

static size_t up(size_t value, size_t to) { return (value + to - 1) / to * to; }

static struct head *head_of(char *block) { return (struct head *)block - 1; }

static int is_placed(const void *block) { return (uintptr_t)block - base < range; }

static void unmap(char *block) {
    struct head head = *head_of(block);
    mmap(block - head.lead, up(head.lead + head.capacity, STEP), PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    live--;
}

/* Return a block that was freed: the last of this size, else the smallest that is not twice as large. */
static char *reuse(size_t align, size_t capacity) {
    int best = -1;
    for (int i = depth - 1; i >= 0; i--) {
        size_t size = unused[i].capacity;
        if (size < capacity || size > 2 * capacity || unused[i].align != align)
            continue;
        if (best < 0 || size < unused[best].capacity)
            best = i;
        if (size == capacity)
            break;
    }
    if (best < 0)
        return NULL;
    char *block = unused[best].block;
    memmove(unused + best, unused + best + 1, (--depth - best) * sizeof *unused);
    return block;
}

static char *make(size_t align, size_t capacity) {
    uint32_t number = counts[mix(capacity) % KINDS]++;
    size_t offset = align * (mix(seed ^ mix(capacity ^ ((uint64_t)number << 40))) % (STEP / align));
    size_t lead = up(sizeof(struct head), align) + offset, span = up(lead + capacity, STEP);
    if (next + span > base + range || mprotect((void *)next, span, PROT_READ | PROT_WRITE))
        return NULL;
    char *block = (char *)next + lead;
    *head_of(block) = (struct head){capacity, era, lead, align};
    next += span;
    live++;
    return block;
}

/* Return a block, NULL where glibc is to serve it; `fresh` says whether it holds zeros. */
static void *place(size_t align, size_t size, int *fresh) {
    size_t capacity = up(size, 64);
    enter();
    char *block = reuse(align, capacity);
    *fresh = block == NULL;
    if (block == NULL)
        block = make(align, capacity);
    leave();
    return block;
}

/* Every call of a small block passes here: one comparison, and a jump to glibc. */
static int is_served(size_t size) { return __builtin_expect(size - LEAST < served, 0); }

/* Begin other places, the same in each process for the same seed; 0 leaves all to glibc. Return whether that works. */
int opperf_place(uint64_t value) {
    enter();
    if (range == 0 && value != 0) {
        void *found = mmap(NULL, RANGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found != MAP_FAILED) {
            base = up((uintptr_t)found, 2UL << 20);
            next = base;
            range = RANGE - (2UL << 20);
        }
    }
    while (depth > 0)
        unmap(unused[--depth].block);
    memset(counts, 0, sizeof counts);
    next = live == 0 ? base : up(next, 2UL << 20);
    seed = value;
    era++;
    served = value != 0 && range != 0 ? MOST - LEAST : 0;
    leave();
    return served > 0;
}

static void forked(void) { lock = 0; }

__attribute__((constructor)) static void begin(void) { pthread_atfork(NULL, NULL, forked); }

static __attribute__((noinline)) void *place_plain(size_t size) {
    int fresh;
    void *block = place(16, size, &fresh);
    return block != NULL ? block : __libc_malloc(size);
}

void *malloc(size_t size) { return is_served(size) ? place_plain(size) : __libc_malloc(size); }

void *calloc(size_t count, size_t each) {
    size_t size;
    int fresh;
    if (!__builtin_mul_overflow(count, each, &size) && is_served(size)) {
        void *block = place(16, size, &fresh);
        if (block != NULL)
            return fresh ? block : memset(block, 0, size);
    }
    return __libc_calloc(count, each);
}

static __attribute__((noinline)) void *place_aligned(size_t align, size_t size) {
    int fresh, plain = align <= 4096 && (align & (align - 1)) == 0;
    void *block = plain ? place(align < 16 ? 16 : align, size, &fresh) : NULL;
    return block != NULL ? block : __libc_memalign(align, size);
}

static inline void *aligned(size_t align, size_t size) {
    return is_served(size) ? place_aligned(align, size) : __libc_memalign(align, size);
}

void *memalign(size_t align, size_t size) { return aligned(align, size); }

void *aligned_alloc(size_t align, size_t size) { return aligned(align, size); }

int posix_memalign(void **result, size_t align, size_t size) {
    if (align == 0 || align % sizeof(void *) || (align & (align - 1)))
        return EINVAL;
    void *block = aligned(align, size);
    if (block == NULL)
        return ENOMEM;
    *result = block;
    return 0;
}

static __attribute__((noinline)) void give_back(void *block) {
    enter();
    struct head *head = head_of(block);
    if (head->era == era && served && depth < FREE) {
        unused[depth].block = block;
        unused[depth].capacity = head->capacity;
        unused[depth++].align = head->align;
    } else {
        unmap(block);
    }
    leave();
}

void free(void *block) {
    if (__builtin_expect(is_placed(block), 0))
        give_back(block);
    else
        __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (!is_placed(block))
        return __libc_realloc(block, size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t capacity = head_of(block)->capacity;
    if (size <= capacity && size >= capacity / 2)
        return block;
    void *other = malloc(size);
    if (other != NULL) {
        memcpy(other, block, size < capacity ? size : capacity);
        free(block);
    }
    return other;
}

size_t malloc_usable_size(void *block) {
    static size_t (*original)(void *);
    if (is_placed(block))
        return head_of(block)->capacity;
    if (original == NULL)
        original = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return original(block);
}
