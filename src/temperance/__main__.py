"""``python -m temperance``: the command line."""

from temperance.cli import main

if __name__ == "__main__":
    main(prog_name="python -m temperance")
