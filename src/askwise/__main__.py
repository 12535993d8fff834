"""`python -m askwise`: the command line where the command `askwise` is not on the path."""

from askwise.cli import main

if __name__ == "__main__":
    main()
