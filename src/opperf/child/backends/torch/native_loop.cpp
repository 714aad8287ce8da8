// Calls what PyTorch's dispatcher was called with once, again and again, without the interpreter.
//
// A loop is made of the calls that were recorded, with the arguments that the dispatcher got, or of a graph that was
// kept. For each call the arguments are copied onto a stack. No lock of Python's is held while a loop runs. Only what
// is needed is included: with all of PyTorch's headers this takes a minute to compile.

#include <Python.h>
#include <pybind11/pytypes.h>

#include <ATen/core/List.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/python_variable.h>

#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace {

using Values = std::vector<c10::IValue>;

struct Loop {
  virtual ~Loop() = default;
  // Make one call.
  virtual void call() = 0;
  // Do what `call` does around its operators, which are left out.
  virtual void around() = 0;
  // Make one call, and return every tensor that its steps returned.
  virtual Values results() = 0;
};

// The place of an argument that an earlier step computed: in a list of tensors, or (element -1) by itself.
struct Place {
  size_t argument;
  int64_t element;
  size_t value;
};

struct Step {
  c10::OperatorHandle op;
  Values arguments;
  std::vector<Place> places;
};

struct Program : Loop {
  std::vector<Step> steps;
  bool linked = false;
  Values stack;
  Values values;

  void call() override {
    run(linked);
    values.clear();
  }

  void run(bool keep) {
    values.clear();  // of a call that threw
    for (auto& step : steps) {
      fill(step);
      step.op.callBoxed(stack);
      if (keep) collect();
      stack.clear();
    }
  }

  void around() override {
    for (auto& step : steps) {
      stack.assign(step.arguments.begin(), step.arguments.end());
      stack.clear();
    }
  }

  Values results() override {
    run(true);
    return std::exchange(values, {});
  }

  void fill(const Step& step) {
    stack.assign(step.arguments.begin(), step.arguments.end());
    for (const auto& place : step.places) {
      if (place.element < 0) {
        stack[place.argument] = values.at(place.value);
        continue;
      }
      auto& list = stack[place.argument];
      if (list.isTensorList()) {
        auto copy = list.toTensorList().copy();
        copy.set(place.element, values.at(place.value).toTensor());
        list = std::move(copy);
      } else {
        auto copy = list.toList().copy();
        copy.set(place.element, values.at(place.value));
        list = std::move(copy);
      }
    }
  }

  void collect() {
    for (const auto& result : stack) {
      if (result.isTensor()) {
        values.push_back(result);
      } else if (result.isTensorList()) {
        for (const auto& tensor : result.toTensorVector()) values.emplace_back(tensor);
      }
    }
  }
};

struct Backward : Loop {
  torch::autograd::edge_list roots;
  torch::autograd::variable_list heads;
  torch::autograd::edge_list leaves;
  bool keep = true;

  void call() override { gradients(); }
  void around() override {}

  Values results() override {
    Values values;
    for (auto& gradient : gradients()) values.emplace_back(std::move(gradient));
    return values;
  }

  torch::autograd::variable_list gradients() {
    return torch::autograd::Engine::get_default_engine().execute(roots, heads, keep, false, false, leaves);
  }
};

// Release Python's lock in a scope.
struct Unlocked {
  PyThreadState* state = PyEval_SaveThread();
  ~Unlocked() { PyEval_RestoreThread(state); }
};

// Run what may throw, and return Python's None, or null with an exception set.
template <typename Function>
PyObject* guarded(Function function) {
  try {
    return function();
  } catch (const pybind11::error_already_set&) {
    PyErr_SetString(PyExc_RuntimeError, "an operator that is written in Python raised an exception");
  } catch (const c10::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what_without_backtrace());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

const char* const NAME = "opperf loop";

PyObject* wrap(std::unique_ptr<Loop> loop) {
  return PyCapsule_New(loop.release(), NAME, [](PyObject* capsule) {
    delete static_cast<Loop*>(PyCapsule_GetPointer(capsule, NAME));
  });
}

Loop& unwrap(PyObject* capsule) {
  auto* loop = static_cast<Loop*>(PyCapsule_GetPointer(capsule, NAME));
  if (loop == nullptr) {
    PyErr_Clear();
    throw std::runtime_error("expected a loop");
  }
  return *loop;
}

// The calls that one thread makes of the dispatcher, as it makes them; not those that operators make of others.
struct Recording {
  std::unique_ptr<Program> program = std::make_unique<Program>();
  std::vector<at::Tensor> kept;  // so that no two tensors have one address
  std::unordered_map<const void*, size_t> numbers;
  std::unordered_set<const void*> written;
  std::vector<const void*> constants;
  int depth = 0;
  at::CallbackHandle handle = 0;

  void begin(const at::RecordFunction& call) {
    auto name = call.operator_name();
    if (!name.has_value()) throw std::runtime_error("a call without an operator");
    Step step{c10::Dispatcher::singleton().findSchemaOrThrow(name->name.c_str(), name->overload_name.c_str()), {}, {}};
    for (const auto& input : call.inputs()) {
      const size_t place = step.arguments.size();
      step.arguments.push_back(input);
      if (input.isTensor()) {
        if (link(step, input.toTensor(), place, -1)) step.arguments.back() = c10::IValue();  // computed at each call
      } else if (input.isList()) {
        const auto list = input.toListRef();
        for (size_t i = 0; i < list.size(); ++i) {
          if (list[i].isTensor()) link(step, list[i].toTensor(), place, static_cast<int64_t>(i));
        }
      }
    }
    program->linked |= !step.places.empty();
    program->steps.push_back(std::move(step));
  }

  // Note where an argument comes from; return whether an earlier step computed it.
  bool link(Step& step, const at::Tensor& tensor, size_t place, int64_t element) {
    const void* address = tensor.unsafeGetTensorImpl();
    auto number = numbers.find(address);
    if (number != numbers.end()) {
      step.places.push_back({place, element, number->second});
      return true;
    }
    // A number that Python was given (`x + 1`) is put into a tensor anew at each call.
    const bool number_of_python = tensor.defined() && tensor.unsafeGetTensorImpl()->is_wrapped_number();
    if (tensor.defined() && !number_of_python && written.count(address) == 0) constants.push_back(address);
    return false;
  }

  void end(const at::RecordFunction& call) {
    // Python itself writes numbers into such memory (`x[[1, 2]]`), so they are constants and no results.
    const bool empty = std::string_view(call.name()).find("aten::empty") == 0;
    for (const auto& output : call.outputs()) {
      if (output.isTensor()) {
        keep(output.toTensor(), empty);
      } else if (output.isTensorList()) {
        for (const auto& tensor : output.toTensorVector()) keep(tensor, empty);
      }
    }
  }

  void keep(const at::Tensor& tensor, bool empty) {
    const void* address = tensor.unsafeGetTensorImpl();
    if (empty) {
      written.insert(address);
    } else {
      numbers[address] = kept.size();
    }
    kept.push_back(tensor);
  }

  // Return which of the results a tensor is, the latest that it can be; -1 for none. Python's own functions that make
  // tensors (`torch.zeros`) return others, of the same memory.
  long long number(const at::Tensor& tensor) const {
    for (size_t i = kept.size(); i-- > 0;) {
      const auto& one = kept[i];
      if (one.is_same(tensor)) return static_cast<long long>(i);
      if (one.layout() == at::kStrided && tensor.layout() == at::kStrided && one.is_alias_of(tensor) &&
          one.sizes() == tensor.sizes() && one.strides() == tensor.strides() && one.dtype() == tensor.dtype() &&
          one.storage_offset() == tensor.storage_offset()) {
        return static_cast<long long>(i);
      }
    }
    return -1;
  }
};

thread_local std::unique_ptr<Recording> recording;

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& call) {
  if (recording && recording->depth++ == 0) recording->begin(call);
  return nullptr;
}

void on_end(const at::RecordFunction& call, at::ObserverContext*) {
  if (recording && --recording->depth == 0) recording->end(call);
}

torch::autograd::variable_list tensors_of(PyObject* sequence) {
  torch::autograd::variable_list tensors;
  for (Py_ssize_t i = 0; i < PyTuple_Size(sequence); ++i) {
    tensors.push_back(THPVariable_Unpack(PyTuple_GetItem(sequence, i)));
  }
  return tensors;
}

torch::autograd::edge_list edges_of(PyObject* sequence) {
  torch::autograd::edge_list edges;
  for (const auto& tensor : tensors_of(sequence)) edges.push_back(torch::autograd::impl::gradient_edge(tensor));
  return edges;
}

}  // namespace

extern "C" {

// Begin to record the calls of this thread.
PyObject* opperf_record() {
  return guarded([&] {
    recording = std::make_unique<Recording>();
    recording->handle = at::addThreadLocalCallback(at::RecordFunctionCallback(&on_begin, &on_end)
                                                       .needsInputs(true)
                                                       .needsOutputs(true)
                                                       .scopes({at::RecordScope::FUNCTION}));
    Py_RETURN_NONE;
  });
}

// End that. Return the loop, how many steps it has, for each tensor of a tuple which of theirs it is (-1: none), and the
// addresses of the tensors that no step computed.
PyObject* opperf_program(PyObject* results) {
  return guarded([&] {
    auto taken = std::exchange(recording, nullptr);
    at::removeCallback(taken->handle);
    auto numbers = pybind11::reinterpret_steal<pybind11::object>(PyList_New(0));
    for (const auto& tensor : tensors_of(results)) {
      auto number = pybind11::reinterpret_steal<pybind11::object>(PyLong_FromLongLong(taken->number(tensor)));
      PyList_Append(numbers.ptr(), number.ptr());
    }
    auto constants = pybind11::reinterpret_steal<pybind11::object>(PyList_New(0));
    for (const void* address : taken->constants) {
      auto number = pybind11::reinterpret_steal<pybind11::object>(PyLong_FromVoidPtr(const_cast<void*>(address)));
      PyList_Append(constants.ptr(), number.ptr());
    }
    const auto steps = static_cast<Py_ssize_t>(taken->program->steps.size());
    return Py_BuildValue("NnNN", wrap(std::move(taken->program)), steps, numbers.release().ptr(),
                         constants.release().ptr());
  });
}

PyObject* opperf_backward(PyObject* outputs, PyObject* heads, PyObject* leaves, int keep) {
  return guarded([&] {
    auto backward = std::make_unique<Backward>();
    backward->roots = edges_of(outputs);
    backward->heads = tensors_of(heads);
    backward->leaves = edges_of(leaves);
    backward->keep = keep != 0;
    return wrap(std::move(backward));
  });
}

PyObject* opperf_run(PyObject* capsule, long long calls) {
  return guarded([&] {
    auto& loop = unwrap(capsule);
    {
      Unlocked unlocked;
      for (long long i = 0; i < calls; ++i) loop.call();
    }
    Py_RETURN_NONE;
  });
}

PyObject* opperf_around(PyObject* capsule, long long calls) {
  return guarded([&] {
    auto& loop = unwrap(capsule);
    {
      Unlocked unlocked;
      for (long long i = 0; i < calls; ++i) loop.around();
    }
    Py_RETURN_NONE;
  });
}

PyObject* opperf_results(PyObject* capsule) {
  return guarded([&] {
    auto& loop = unwrap(capsule);
    Values values;
    {
      Unlocked unlocked;
      values = loop.results();
    }
    auto list = pybind11::reinterpret_steal<pybind11::object>(PyList_New(0));
    for (const auto& value : values) {
      auto tensor = pybind11::reinterpret_steal<pybind11::object>(THPVariable_Wrap(value.toTensor()));
      PyList_Append(list.ptr(), tensor.ptr());
    }
    return list.release().ptr();
  });
}

}  // extern "C"
