"""Other tools over HTTP: their labels come in, predictions go out; none of them is a dependency."""
