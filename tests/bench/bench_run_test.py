#!/usr/bin/env python3
"""Tests of the parts of bench/run that decide: aggregation, targets, selection, and the texts."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/run"))

# pylint: disable=wrong-import-position
import report_html  # noqa: E402
import report_markdown  # noqa: E402
import targets  # noqa: E402
from aggregate import Aggregates, Failure, advantage, aggregate  # noqa: E402
from machine import scrub  # noqa: E402
from micro import parse_micro  # noqa: E402
from numbers_text import number, times  # noqa: E402
from patterns import CABLE, OURS, RAW, SUBJECTS, all_cases, offers, select_cases  # noqa: E402
from report_text import Report  # noqa: E402
from tables import NOTHING, as_markdown, as_text, case_table  # noqa: E402


def side(cpu=1.0, writes=10, reads=20):
    return {"cpu_seconds": cpu, "writes": writes, "reads": reads}


def result(rate=1000.0, messages=1_000_000, lost=0, client=None, server=None, p99=None):
    value = {
        "messages": messages,
        "lost": lost,
        "seconds": messages / rate,
        "rate": rate,
        "client": client or side(),
        "server": server or side(),
    }
    if p99 is not None:
        value["latency_us"] = {"p50": 1, "p90": 2, "p99": p99, "p99_9": p99 * 2, "max": p99 * 3}
    return value


def verdict(text, found):
    matching = [target for target in targets.TARGETS if text in target.text]
    assert len(matching) == 1, f"{text}: {len(matching)} targets"
    return targets.judge(matching[0], found)


class AggregateTest(unittest.TestCase):
    def test_the_median_is_not_moved_by_one_bad_round(self):
        found = aggregate([result(rate=rate) for rate in (100.0, 5.0, 110.0)])
        self.assertEqual((found.rate.median, found.rate.low, found.rate.high), (100.0, 5.0, 110.0))
        self.assertEqual(found.rounds, 3)

    def test_usage_is_given_for_a_million_messages(self):
        found = aggregate([result(messages=500_000, client=side(cpu=0.25, writes=30, reads=4))])
        self.assertEqual(found.client.cpu_seconds.median, 0.5)
        self.assertEqual(found.client.writes.median, 60)
        self.assertEqual(found.client.reads.median, 8)

    def test_both_sides_make_the_cpu_time_of_a_message(self):
        found = aggregate([result(client=side(cpu=0.25), server=side(cpu=0.5))])
        self.assertEqual(found.cpu_per_million, 0.75)

    def test_counts_of_a_process_that_was_not_watched_are_unknown(self):
        found = aggregate([result(client=side(writes=0, reads=0), server=side(writes=0, reads=7))])
        self.assertIsNone(found.client.writes)
        self.assertIsNone(found.client.reads)
        self.assertEqual(found.server.writes.median, 0)

    def test_losses_and_messages_are_summed(self):
        found = aggregate([result(lost=1), result(lost=2)])
        self.assertEqual((found.lost, found.messages), (3, 2_000_000))

    def test_latency_is_there_when_it_was_measured(self):
        self.assertEqual(aggregate([result()]).latency_us, {})
        found = aggregate([result(p99=10), result(p99=30), result(p99=20)])
        self.assertEqual(found.latency_us["p99"].median, 20)

    def test_what_was_not_measured_is_none(self):
        found = Aggregates({"case": {OURS: [result()]}})
        self.assertIsNone(found.rate("case", "zmq"))
        self.assertIsNone(found.rate("other", OURS))
        self.assertIsNone(found.quantile("case", OURS, "p99"))

    def test_a_higher_rate_and_a_lower_p99_are_better(self):
        found = Aggregates({"case": {OURS: [result(30.0, p99=2)], "zmq": [result(10.0, p99=10)]}})
        self.assertEqual(advantage(found, "case", "rate", OURS, "zmq"), 3)
        self.assertEqual(advantage(found, "case", "p99", OURS, "zmq"), 5)
        self.assertIsNone(advantage(found, "case", "rate", OURS, "nng"))


class TargetsTest(unittest.TestCase):
    def test_a_target_is_met_at_its_limit_and_missed_below(self):
        for rate, status in ((100.0, targets.MET), (99.0, targets.MISSED)):
            found = Aggregates({"one-way-4x1": {OURS: [result(rate)], "zmq": [result(10.0)]}})
            self.assertEqual(verdict("one way, 4 B: ours / ZeroMQ", found).status, status)

    def test_a_target_without_numbers_is_not_measured(self):
        for by_subject in ({}, {OURS: [result()]}, {"zmq": [result()]}):
            found = Aggregates({"one-way-4x1": by_subject})
            judged = verdict("one way, 4 B: ours / ZeroMQ", found)
            self.assertEqual((judged.status, judged.value), (targets.NOT_MEASURED, None))
        self.assertEqual(
            {judged.status for judged in targets.judge_all(Aggregates({}))}, {targets.NOT_MEASURED}
        )

    def test_the_best_peer_is_neither_raw_nor_ours(self):
        rates = {OURS: 50.0, CABLE: 90.0, RAW: 100.0, "zmq": 20.0, "nng": 40.0}
        found = Aggregates({"one-way-65536x1": {key: [result(r)] for key, r in rates.items()}})
        judged = verdict("best peer", found)
        self.assertEqual((judged.status, judged.value), (targets.MET, 1.25))
        self.assertIn("nng", judged.detail)

    def test_more_cpu_time_than_a_fifth_is_too_much(self):
        for cpu, status in ((0.1, targets.MET), (0.2, targets.MISSED)):
            ours = result(client=side(cpu=cpu), server=side(cpu=cpu))
            theirs = result(client=side(cpu=0.5), server=side(cpu=0.5))
            found = Aggregates({"one-way-4x1": {OURS: [ours], "zmq": [theirs]}})
            self.assertEqual(verdict("CPU per million", found).status, status)

    def test_the_largest_count_of_system_calls_decides(self):
        ours = result(client=side(writes=10, reads=1), server=side(writes=0, reads=1200))
        found = Aggregates({"one-way-4x1": {OURS: [ours]}})
        judged = verdict("system calls", found)
        self.assertEqual((judged.status, judged.value), (targets.MISSED, 1200))

    def test_unknown_counts_of_system_calls_are_no_zeros(self):
        ours = result(client=side(writes=0, reads=0))
        judged = verdict("system calls", Aggregates({"one-way-4x1": {OURS: [ours]}}))
        self.assertEqual(judged.status, targets.NOT_MEASURED)

    def test_p99_may_be_a_little_above_that_of_raw_sockets(self):
        for p99, status in ((117, targets.MET), (118, targets.MISSED)):
            found = Aggregates({"echo-1": {OURS: [result(p99=p99)], RAW: [result(p99=100)]}})
            self.assertEqual(verdict("1 in flight, p99", found).status, status)

    def test_the_cable_is_compared_by_p99_on_both_links(self):
        rounds = {OURS: [result(p99=60)], CABLE: [result(p99=10)]}
        for case, text in (("beside-bulk", "loopback"), ("long-beside-bulk", "bulk, long link")):
            judged = verdict(text, Aggregates({case: rounds}))
            self.assertEqual((judged.status, judged.value), (targets.MET, 6))

    def test_targets_speak_of_cases_that_a_full_and_a_quick_run_have(self):
        for quick in (False, True):
            cases = all_cases(quick)
            rounds = {case.key: {key: [result(p99=1)] for key in case.subjects} for case in cases}
            for judged in targets.judge_all(Aggregates(rounds)):
                self.assertNotEqual(judged.status, targets.NOT_MEASURED, judged.text)


class PatternsTest(unittest.TestCase):
    def test_keys_are_unique(self):
        for quick in (False, True):
            keys = [case.key for case in all_cases(quick)]
            self.assertEqual(len(keys), len(set(keys)))

    def test_a_beginning_a_glob_and_a_program_select(self):
        cases = all_cases(False)
        echoes = select_cases(cases, ["echo"], [])
        self.assertEqual(len(echoes), 4)
        self.assertEqual([c.key for c in select_cases(cases, ["*-1000"], [])], ["fan-out-1000"])
        only_ours = select_cases(cases, ["one-way-4x1"], [OURS])
        self.assertEqual(only_ours[0].subjects, (OURS, CABLE))
        self.assertEqual(select_cases(cases, ["beside"], ["nng"]), [])

    def test_every_peer_offers_to_send_one_way(self):
        self.assertTrue(all(offers(subject, "one-way") for subject in SUBJECTS.values()))

    def test_a_full_run_has_five_rounds_and_a_quick_one_three(self):
        for quick, rounds in ((False, 5), (True, 3)):
            cases = [case for case in all_cases(quick) if not case.long_link]
            self.assertEqual({case.rounds for case in cases}, {rounds})

    def test_the_whole_table_fits_in_the_time(self):
        for quick, minutes in ((False, 16), (True, 2.7)):
            seconds = sum(
                case.rounds * case.estimate(SUBJECTS[key])
                for case in all_cases(quick)
                for key in case.subjects
                if offers(SUBJECTS[key], case.pattern)
            )
            self.assertLess(seconds / 60, minutes)


class ReportTest(unittest.TestCase):
    def report(self):
        cases = [case for case in all_cases(True) if case.key in ("one-way-4x1", "echo-1")]
        rounds = {"one-way-4x1": {OURS: [result(2e6)], "zmq": [result(1e6)]}}
        found = Aggregates(rounds)
        return Report(
            machine={"processor": "P <1>", "libraries": {"Boost": "1.81"}},
            cases=cases,
            aggregates=found,
            verdicts=targets.judge_all(found),
            micro=parse_micro('{"benchmarks": [{"name": "encode/64", "real_time": 10.0, '
                              '"time_unit": "us", "items_per_second": 2e8}]}'),
            plots=[("one-way-1.svg", "One way")],
            failures=[Failure("echo-1", "zmq", "exit code 1\nterminate called")],
            skipped=["long link: no /dev/net/tun"],
            quick=True,
            partial=False,
            minutes=2.0,
        )  # fmt: skip

    def test_a_table_has_a_row_for_each_subject_and_a_dash_for_no_result(self):
        report = self.report()
        table = case_table(report.cases[0], report.aggregates)
        self.assertEqual(len(table.rows), len(report.cases[0].subjects))
        rows = {row[0]: row for row in table.rows}
        self.assertEqual(rows["ZeroMQ"][1:4], ["1,000", "1,000 .. 1,000", "2.00 x"])
        self.assertEqual(set(rows["nng"][1:]), {NOTHING})
        self.assertEqual({len(row) for row in table.rows}, {len(table.header)})
        self.assertEqual(len(as_text(table).splitlines()), len(table.rows) + 1)
        self.assertEqual(len(as_markdown(table).splitlines()), len(table.rows) + 2)

    def test_markdown_has_plots_targets_and_what_failed(self):
        text = report_markdown.markdown(self.report(), "bench")
        for part in ("![One way](bench/one-way-1.svg)", "## How to read this", "not measured",
                     "zmq, echo-1: exit code 1 / terminate called", "no /dev/net/tun",
                     "| encode/64 | 5.00 |", "1.5 x means nothing"):  # fmt: skip
            self.assertIn(part, text)

    def test_html_escapes_and_shows_the_same(self):
        text = report_html.page(self.report())
        self.assertIn("P &lt;1&gt;", text)
        self.assertIn('<img src="one-way-1.svg"', text)
        self.assertEqual(text.count("<table>"), text.count("</table>"))
        self.assertNotIn("http://", text)

    def test_private_texts_are_replaced_as_whole_words_only(self):
        private = [("/home/ann/src", "."), ("buildbox", "HOST")]
        text = scrub("/home/ann/src/a.cpp on buildbox; buildboxes /home/ann/srcs", private)
        self.assertEqual(text, "./a.cpp on HOST; buildboxes /home/ann/srcs")

    def test_numbers_have_three_digits_that_count(self):
        texts = [number(value) for value in (None, 0, 0.01234, 1.234, 12.34, 1234567.8)]
        self.assertEqual(texts, ["-", "0", "0.0123", "1.23", "12.3", "1,234,568"])
        self.assertEqual([times(None), times(0.3), times(12.34)], ["-", "0.30 x", "12.3 x"])


if __name__ == "__main__":
    unittest.main()
