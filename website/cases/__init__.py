"""Bad input, kind by kind; each case gives the line that it gets."""
