"""A queue of experiments that can be stopped anywhere: small jobs, one row each, tables from all rows."""
