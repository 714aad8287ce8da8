/* Calls what MXNet's C API was called with once, again and again, without the interpreter.
 *
 * Python fills the steps. The wheel has no headers, so the functions of the API come as pointers. */

#include <stddef.h>

typedef int (*Invoke)(void *op, int inputs, void **arrays, int *outputs, void ***results, int parameters,
                      const char **keys, const char **values, const int **storage);
typedef int (*Release)(void *array);

/* An input that an earlier step computed: `place` among the inputs, `value` among all results. */
typedef struct {
  int place;
  int value;
} Link;

typedef struct {
  void *op;
  int inputs;
  void **arrays;
  int targets; /* arrays that the caller gives to write into; without them MXNet makes the results */
  void **outputs;
  int parameters;
  const char **keys;
  const char **values;
  int links;
  const Link *link;
} Step;

/* Make one call; `made` takes what MXNet made, for the caller to release. Returns their number, or -1. */
static int once(Invoke invoke, const Step *steps, int count, void **made) {
  int total = 0;
  for (int i = 0; i < count; ++i) {
    const Step *step = &steps[i];
    for (int j = 0; j < step->links; ++j) step->arrays[step->link[j].place] = made[step->link[j].value];
    int outputs = step->targets;
    void **results = step->targets ? step->outputs : NULL;
    const int *storage = NULL;
    if (invoke(step->op, step->inputs, step->arrays, &outputs, &results, step->parameters, step->keys, step->values,
               &storage))
      return -1 - total;
    if (!step->targets)
      for (int j = 0; j < outputs; ++j) made[total++] = results[j];
  }
  return total;
}

int opperf_once(Invoke invoke, const Step *steps, int count, void **made) { return once(invoke, steps, count, made); }

/* Make that many calls; returns 0, or -1 where MXNet says that one failed. */
int opperf_run(Invoke invoke, Release release, const Step *steps, int count, void **made, long long calls) {
  for (long long call = 0; call < calls; ++call) {
    int total = once(invoke, steps, count, made);
    int results = total < 0 ? -1 - total : total;
    for (int i = 0; i < results; ++i) release(made[i]);
    if (total < 0) return -1;
  }
  return 0;
}

/* Stands for MXNet's function where only what surrounds it is timed. */
int opperf_nothing(void *op, int inputs, void **arrays, int *outputs, void ***results, int parameters,
                   const char **keys, const char **values, const int **storage) {
  (void)op, (void)inputs, (void)arrays, (void)results, (void)parameters, (void)keys, (void)values, (void)storage;
  *outputs = 0;
  return 0;
}
