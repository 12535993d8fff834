"""From a plan in a file to one or many finished runs."""
