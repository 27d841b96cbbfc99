"""Counts and prints the results of checks."""


class Results:
    """The results of one part."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def note(self, what, problem, remark=""):
        """One check: its name, what is wrong (or None), and a remark if nothing is."""
        if problem:
            self.failed += 1
            print(f"FAILED  {what}: {problem}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {what}{f'  {remark}' if remark else ''}", flush=True)

    def exit_code(self):
        """Prints the totals. 0 if at least one check ran and none failed."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 0 if self.passed and not self.failed else 1
