"""The sections of the report, one kind of question a file; each is empty where nothing is known."""
