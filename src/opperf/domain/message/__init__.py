"""The protocol of parent and child: `requests`, their `replies`, and the `wire` that carries them."""
