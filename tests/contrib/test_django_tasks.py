"""Tasks of Django are jobs: enqueued in its transaction, run by Awa, and their results are read back.

Run with django-tasks, or with django.tasks where Django has it (see `awa.contrib.django.library`).
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.test import override_settings

import awa
from awa.contrib.django.backend import AwaBackend, awa_priority
from awa.contrib.django.library import TaskResultDoesNotExist, TaskResultStatus, signals
from awa.testing import Ran, assert_enqueued_sync

Work = Callable[..., list[Ran]]


def test_a_task_is_run_and_its_result_read(jobs: Any, work: Work) -> None:
    result = jobs.add.enqueue(1, b=2)
    assert (result.status, result.args, result.kwargs) == (TaskResultStatus.READY, [1], {"b": 2})
    assert (result.attempts, result.is_finished, result.backend) == (0, False, "default")
    (ran,) = work()
    assert (ran.job.kind, ran.job.state) == ("tests.contrib.django_jobs.add", "completed")
    result.refresh()
    assert (result.status, result.return_value, result.attempts) == ("SUCCESSFUL", 3, 1)
    assert result.enqueued_at <= result.started_at <= result.finished_at
    assert jobs.add.get_result(result.id).return_value == 3


def test_a_task_exists_when_the_transaction_commits(jobs: Any, site: Any, work: Work) -> None:
    with transaction.atomic():
        kept = jobs.add.enqueue(1)
        assert jobs.add.get_result(kept.id).status == "READY"
        assert work() == []
    with transaction.atomic():
        dropped = jobs.add.enqueue(2)
        transaction.set_rollback(True)
    assert [ran.job.id for ran in work()] == [int(kept.id)]
    with pytest.raises(TaskResultDoesNotExist):
        jobs.add.get_result(dropped.id)


def test_async_tasks_are_run_and_enqueued(jobs: Any, work: Work, database_url: str) -> None:
    async def enqueue() -> Any:
        result = await jobs.send.aenqueue("ada@example.org")
        return await jobs.send.aget_result(result.id)

    result = asyncio.run(enqueue())
    (ran,) = work()
    assert (ran.job.queue, ran.job.priority, ran.job.state) == ("email", 1, "completed")
    result.refresh()
    assert result.return_value["to"] == "ada@example.org"
    assert f"/{result.return_value['database']}?" in database_url


def test_a_task_can_wait_and_go_elsewhere(jobs: Any, site: Any, work: Work) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    result = jobs.add.using(run_after=tomorrow, queue_name="email", priority=-60).enqueue(1)
    (job,) = assert_enqueued_sync(site, jobs.add.module_path, queue="email", priority=4)
    assert (job.state, job.run_at, result.status) == (awa.JobState.SCHEDULED, tomorrow, "READY")
    assert work() == []
    (ran,) = work(tomorrow)
    assert ran.job.state is awa.JobState.COMPLETED


def test_the_context_says_which_attempt_this_is(jobs: Any, work: Work) -> None:
    result = jobs.attempts.enqueue("x")
    work()
    result.refresh()
    assert result.return_value == [1, "RUNNING", result.id, "x"]


def test_a_task_that_raises_is_tried_again_and_then_has_failed(jobs: Any, work: Work) -> None:
    told: list[tuple[str, str]] = []

    def listen(sender: Any, task_result: Any, signal: Any, **more: Any) -> None:
        name = next(name for name in dir(signals) if getattr(signals, name) is signal)
        told.append((name, str(task_result.status)))

    every = (signals.task_enqueued, signals.task_started, signals.task_finished)
    for signal in every:
        signal.connect(listen)
    try:
        result = jobs.fail.enqueue("two\nlines: of text")
        (first,) = work()
        result.refresh()
        assert (first.job.state, result.status, result.attempts) == ("retryable", "READY", 1)
        work(datetime.now(UTC) + timedelta(hours=1))
    finally:
        for signal in every:
            signal.disconnect(listen)
    result.refresh()
    assert (result.status, result.attempts, len(result.errors)) == ("FAILED", 2, 2)
    assert result.errors[0].exception_class is jobs.Trouble
    assert "two\nlines" in result.errors[0].traceback
    with pytest.raises(ValueError, match="failed"):
        _ = result.return_value
    assert told == [
        ("task_enqueued", "READY"),
        ("task_started", "RUNNING"),
        ("task_started", "RUNNING"),
        ("task_finished", "FAILED"),
    ]


def test_the_outcomes_of_awa_are_understood(jobs: Any, work: Work) -> None:
    failed, snoozed = jobs.fail_for_good.enqueue(), jobs.later.enqueue()
    work()
    failed.refresh()
    snoozed.refresh()
    assert (failed.status, snoozed.status) == ("FAILED", "READY")
    assert failed.errors[0].exception_class is awa.TerminalError


def test_a_return_value_that_is_too_large_fails_the_task_at_once(jobs: Any, work: Work) -> None:
    """It would be too large again, after the task had done its work again."""
    result = jobs.much.enqueue()
    work()
    result.refresh()
    assert (result.status, result.attempts) == ("FAILED", 1)
    assert result.errors[0].exception_class is awa.TerminalError
    assert "can't be kept: metadata: at most 1048576 bytes" in result.errors[0].traceback


def test_a_built_in_error_is_found_as_well(jobs: Any, work: Work) -> None:
    result = jobs.add.enqueue(1, b="x")
    work()
    result.refresh()
    assert result.errors[0].exception_class is TypeError


def test_a_task_that_returns_nothing_costs_no_row(jobs: Any, site: Any, work: Work) -> None:
    result = jobs.nothing.enqueue()
    work()
    result.refresh()
    assert (result.status, result.return_value) == ("SUCCESSFUL", None)
    with site.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM awa.finished_jobs")
        assert cursor.fetchone() == (0,)


def test_nothing_but_tasks_is_run(jobs: Any, site: Any, work: Work) -> None:
    for path in ("tests.contrib.django_jobs.NOT_A_TASK", "no.such.module", "tests.no_such_name"):
        call = {"args": [], "kwargs": {}, "backend": "default"}
        awa.bridge.insert_job_sync(site, call, kind=path, max_attempts=1)
    ran = work()
    assert [r.job.state for r in ran] == ["failed"] * 3
    assert "not a task of Django" in ran[0].job.errors[0]["error"]
    assert ran[1].job.errors[0]["kind"] == "ModuleNotFoundError"


def test_results_of_other_jobs_and_of_none_do_not_exist(jobs: Any, site: Any) -> None:
    from awa.contrib.django.library import task_backends

    other: int = awa.bridge.insert_job_sync(site, {"args": []}, kind="other").id
    for wrong in (str(other), "0", "-1", "x", "9" * 30, "٣"):
        with pytest.raises(TaskResultDoesNotExist):
            task_backends["default"].get_result(wrong)


def test_what_has_no_json_form_is_refused(jobs: Any, site: Any) -> None:
    with pytest.raises(TypeError):
        jobs.add.enqueue(object())
    assert_enqueued_sync(site, count=0)


@override_settings(USE_TZ=False, TIME_ZONE="America/New_York")
def test_without_time_zones_times_are_local(jobs: Any, site: Any) -> None:
    later = datetime(2030, 1, 1, 12)  # noqa: DTZ001 - as Django has it then
    result = jobs.add.using(run_after=later).enqueue(1)
    (job,) = assert_enqueued_sync(site, count=1)
    assert job.run_at == datetime(2030, 1, 1, 17, tzinfo=UTC)
    assert result.enqueued_at.tzinfo is None
    result.refresh()
    assert result.enqueued_at.tzinfo is None


@pytest.mark.parametrize(
    ("priority", "awas"),
    [(100, 1), (50, 1), (49, 2), (0, 2), (-1, 3), (-50, 3), (-51, 4), (-100, 4)],
)
def test_priorities_keep_their_order(priority: int, awas: int) -> None:
    assert awa_priority(priority) == awas


@pytest.mark.parametrize(
    ("options", "told"), [({"datbase": "x"}, "datbase"), ({"max_attempts": 0}, "max_attempts")]
)
def test_options_are_checked(jobs: Any, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=told):
        AwaBackend("default", {"OPTIONS": options})


def test_another_database_is_found_by_the_checks(jobs: Any) -> None:
    (problem,) = AwaBackend("default", {"OPTIONS": {"database": "other"}}).check()
    assert problem.id == "awa.E001"
    assert list(AwaBackend("default", {}).check()) == []
