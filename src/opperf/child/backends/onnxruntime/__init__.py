"""ONNX Runtime, which only a child imports; with `onnx`, in which nodes are written."""
