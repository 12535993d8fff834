"""Other tools over HTTP: what they know comes in, what the model thinks goes out; none is a dependency."""
