#!/usr/bin/env python3
"""Tests of bench/run/measure.py and session.py with programs that only pretend to measure."""

import contextlib
import io
import os
import sys
import tempfile
import time
import unittest
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/run"))

# pylint: disable=wrong-import-position
import measure  # noqa: E402
from patterns import OURS, RAW, SUBJECTS, all_cases, select_cases  # noqa: E402
from progress import Progress  # noqa: E402
from session import FAILURES_PER_CASE, Session  # noqa: E402

SERVER = """#!/bin/sh
if [ "$1" = server ]; then
  echo 1 2
  exec sleep 0.01
fi
"""
RESULT = (
    """echo '{"messages": 10, "lost": %d, "rate": 5.0, "client": {"cpu_seconds": 1}, """
    """"server": {"cpu_seconds": 1}}'\n"""
)
GOOD = SERVER + RESULT % 0
LOSING = SERVER + RESULT % 3
REFUSING = SERVER + 'echo "error: this peer does not do that" >&2\nexit 1\n'
FAILING = SERVER + "echo one >&2\necho two >&2\nexit 3\n"
HANGING = SERVER + 'sleep 60 &\necho $! > "$0.child"\nwait\n'
SILENT = "#!/bin/sh\necho cannot listen >&2\nexit 1\n"


class MeasureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        (self.build / "bench").mkdir()
        case = select_cases(all_cases(True, 3, 0.01), ["one-way-4x1"], [])[0]
        self.case = replace(case, subjects=(OURS, RAW, "nng"))

    def program(self, name, text):
        path = self.build / "bench" / f"bench_{name}"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def measure(self, text):
        self.program("nng", text)
        return measure.measure(self.build, self.case, SUBJECTS["nng"], measure.Place())

    def session(self):
        with contextlib.redirect_stdout(io.StringIO()) as output:
            session = Session(self.build, self.build, Progress(9, 1.0))
            session.run([self.case])
        return session, output.getvalue()

    def test_the_result_is_what_the_client_prints(self):
        self.assertEqual(self.measure(GOOD)["rate"], 5.0)

    def test_a_refusal_is_no_failure(self):
        with self.assertRaises(measure.NotOffered):
            self.measure(REFUSING)

    def test_a_failure_has_the_last_lines_of_the_error_output(self):
        with self.assertRaisesRegex(measure.MeasureError, "exit code is 3\none\ntwo"):
            self.measure(FAILING)

    def test_a_server_that_does_not_listen_is_a_failure(self):
        with self.assertRaisesRegex(measure.MeasureError, "does not listen\n.*cannot listen"):
            self.measure(SILENT)

    def test_output_without_a_result_is_a_failure(self):
        for output in ("", "echo hello\n", "echo '{}'\n"):
            with self.assertRaisesRegex(measure.MeasureError, "no result"):
                self.measure(SERVER + output)

    def test_a_client_that_hangs_is_killed_with_its_children(self):
        self.addCleanup(setattr, measure, "MARGIN", measure.MARGIN)
        measure.MARGIN = 0.3
        with self.assertRaisesRegex(measure.MeasureError, "not done") as caught:
            self.measure(HANGING)
        self.assertTrue(caught.exception.timed_out)
        child = int((self.build / "bench/bench_nng.child").read_text(encoding="ascii"))
        deadline = time.monotonic() + 10
        while self.runs(child) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(self.runs(child))

    @staticmethod
    def runs(process):
        try:
            status = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
        except OSError:
            return False
        # A child of a dead parent may stay as a zombie where nobody is there to reap it.
        return status.rsplit(")", 1)[1].split()[0] != "Z"

    def test_peers_take_turns(self):
        log = self.build / "log"
        for name in (OURS, RAW, "nng"):
            first = f'#!/bin/sh\n[ $1 = server ] && echo {name} >>"{log}"\n'
            self.program(name, GOOD.replace("#!/bin/sh\n", first))
        session, _ = self.session()
        self.assertEqual(log.read_text(encoding="ascii").split(), [OURS, RAW, "nng"] * 3)
        self.assertFalse(session.failed)

    def test_a_failing_peer_is_given_up_and_the_rest_goes_on(self):
        self.program("nng", FAILING)
        self.program(OURS, GOOD)
        session, output = self.session()
        self.assertFalse(session.failed)
        self.assertEqual(len(session.outcome.failures), FAILURES_PER_CASE)
        self.assertEqual(len(session.outcome.results[self.case.key][OURS]), 3)
        self.assertIn("FAILED: nng", output)

    def test_a_peer_that_refuses_is_skipped(self):
        self.program("nng", REFUSING)
        session, _ = self.session()
        self.assertEqual((session.failed, session.outcome.failures), (False, []))
        self.assertEqual(len(session.outcome.skipped), 1)

    def test_ours_and_raw_must_neither_fail_nor_refuse_nor_lose(self):
        for name in (OURS, RAW):
            for text in (FAILING, REFUSING, LOSING):
                self.program(name, text)
                self.assertTrue(self.session()[0].failed)
            os.unlink(self.build / "bench" / f"bench_{name}")

    def test_a_loss_of_another_peer_is_in_its_numbers_only(self):
        self.program("nng", LOSING)
        session, _ = self.session()
        self.assertEqual((session.failed, session.outcome.failures), (False, []))
        self.assertEqual(session.outcome.results[self.case.key]["nng"][0]["lost"], 3)


if __name__ == "__main__":
    unittest.main()
