"""`python -m candide`: the command line."""

from candide.command_line import main

main()
