"""A project: one folder with plan, store, features and exports."""
