"""The protocol of parent and child: `requests`, their `replies`, the `wire` that carries them; a `batch` is a file."""
