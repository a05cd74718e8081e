"""The screens of the workbench, one a file: `routes(bench)` says what each answers."""
