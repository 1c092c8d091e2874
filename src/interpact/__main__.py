"""`python -m interpact` is the command line."""

from interpact.cli import main

if __name__ == "__main__":
    main()
