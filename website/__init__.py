"""Builds the site of docs/: pages made from the code, and files from beside docs/."""
