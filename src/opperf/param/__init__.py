"""PARAM's benchmark configs: one file of JSON that names operators and the arguments to call them with."""
