/* Calls a function of NumPy, again and again, as an extension in C calls it: by the vectorcall of Python's C API.
 *
 * The few functions of that API are declared here: they are part of its stable ABI, and an environment may have no
 * headers of Python. The caller holds Python's lock. */

#include <stddef.h>

typedef struct _object PyObject;
extern PyObject *PyObject_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *);
extern PyObject *Py_BuildValue(const char *, ...);
extern void Py_DecRef(PyObject *);

PyObject *opperf_run(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names, long long calls) {
  for (long long i = 0; i < calls; ++i) {
    PyObject *result = PyObject_Vectorcall(function, arguments, count, names);
    if (result == NULL) return NULL;
    Py_DecRef(result);
  }
  return Py_BuildValue("");
}

static PyObject *nothing(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names) {
  (void)arguments, (void)count, (void)names;
  return function;
}

/* Do what `opperf_run` does, with a function that does nothing. */
PyObject *opperf_around(PyObject *function, PyObject *const *arguments, size_t count, PyObject *names,
                        long long calls) {
  PyObject *(*volatile call)(PyObject *, PyObject *const *, size_t, PyObject *) = nothing;
  for (long long i = 0; i < calls; ++i)
    if (call(function, arguments, count, names) == NULL) return NULL;
  return Py_BuildValue("");
}
