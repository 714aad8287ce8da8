/* Operators whose true duration is known, as a CPython extension.
 *
 * spin(nanoseconds, unused)  runs until that much time has passed, and notes what really passed.
 * work(turns, unused)        runs a chain of multiplications of that length; no clock is read.
 * nothing(a, b)              returns at once.
 * spent()                    returns the nanoseconds of each call of spin since the last time it was asked.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <time.h>

#define MOST 4000000
static int64_t calls, noted[MOST];
static volatile uint64_t sink;

static inline int64_t monotonic(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* The operator's own clock. What a reading costs before and after the moment it reads is blind to that clock: some
 * 40 ns for clock_gettime on a virtual machine, 4 % of a microsecond. The processor's counter costs a tenth of that. */
#if defined(__x86_64__)
#include <x86intrin.h>
static double ticks_per_ns;

static void calibrate(void) {
    int64_t start = monotonic();
    uint64_t first = __rdtsc();
    while (monotonic() - start < 50000000) {}
    ticks_per_ns = (double)(__rdtsc() - first) / (double)(monotonic() - start);
}
static inline int64_t now(void) { return (int64_t)((double)__rdtsc() / ticks_per_ns); }
#else
static void calibrate(void) {}
static inline int64_t now(void) { return monotonic(); }
#endif

static PyObject *spin(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    int64_t start = now();
    int64_t end = start + (count ? PyLong_AsLongLong(arguments[0]) : 0);
    int64_t at;
    do at = now(); while (at < end);
    noted[calls++ % MOST] = at - start;
    Py_RETURN_NONE;
}

static PyObject *work(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    int64_t turns = count ? PyLong_AsLongLong(arguments[0]) : 0;
    uint64_t value = 88172645463325252u;
    for (int64_t turn = 0; turn < turns; turn++) value = value * 6364136223846793005u + 1442695040888963407u;
    sink = value;
    Py_RETURN_NONE;
}

static PyObject *nothing(PyObject *self, PyObject *const *arguments, Py_ssize_t count) { Py_RETURN_NONE; }

static PyObject *spent(PyObject *self, PyObject *unused) {
    Py_ssize_t count = calls < MOST ? calls : MOST;
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) PyList_SET_ITEM(list, i, PyLong_FromLongLong(noted[i]));
    calls = 0;
    return list;
}

static PyMethodDef methods[] = {
    {"spin", (PyCFunction)(void (*)(void))spin, METH_FASTCALL, NULL},
    {"work", (PyCFunction)(void (*)(void))work, METH_FASTCALL, NULL},
    {"nothing", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL, NULL},
    {"spent", spent, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "spin", NULL, -1, methods};
PyMODINIT_FUNC PyInit_spin(void) {
    calibrate();
    return PyModule_Create(&module);
}
