"""Counts what passed, and shows what did not."""


class Results:
    """Of one part of the checks."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def note(self, what, problem, remark=""):
        """One check: its name, what is wrong (or None), and what is worth knowing if nothing is."""
        if problem:
            self.failed += 1
            print(f"FAILED  {what}: {problem}", flush=True)
        else:
            self.passed += 1
            print(f"ok      {what}{f'  {remark}' if remark else ''}", flush=True)

    def exit_code(self):
        """After the closing line: 0 if all passed, and there was something to pass."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 0 if self.passed and not self.failed else 1
