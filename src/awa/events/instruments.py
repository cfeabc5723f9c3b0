"""Counters, gauges and histograms with one name in Prometheus and in OpenTelemetry.

Prometheus has them in `registry`, a registry of our own: `awa serve` prints it at /metrics, and a
program with metrics of its own adds it by `prometheus_client.REGISTRY.register(registry)`.
OpenTelemetry costs next to nothing until the program installs an SDK, so it is always told.
"""

from __future__ import annotations

from collections.abc import Sequence

import prometheus_client
from opentelemetry import metrics as otel

registry = prometheus_client.CollectorRegistry(auto_describe=True)
_meter = otel.get_meter("awa")

# Seconds; a claim takes about one millisecond, a chunk of a batch operation about a hundred.
DURATION_BUCKETS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Counter:
    """A total that only grows. Its name ends with `_total`."""

    __slots__ = ("_labels", "_otel", "_prometheus", "name")

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name, self._labels = name, tuple(labels)
        self._prometheus = prometheus_client.Counter(name, about, labels, registry=registry)
        self._otel = _meter.create_counter(name.removesuffix("_total"), description=about)

    def add(self, amount: float, *values: str) -> None:
        """Add `amount`, with one value for each label in order."""
        if amount <= 0:
            return
        if values:
            self._prometheus.labels(*values).inc(amount)
        else:
            self._prometheus.inc(amount)
        self._otel.add(amount, dict(zip(self._labels, values, strict=True)))


class Gauge:
    """A value that stands for a while, such as how many jobs run now."""

    __slots__ = ("_labels", "_otel", "_prometheus", "name")

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name, self._labels = name, tuple(labels)
        self._prometheus = prometheus_client.Gauge(name, about, labels, registry=registry)
        self._otel = _meter.create_gauge(name, description=about)

    def set(self, value: float, *values: str) -> None:
        """Set the value, with one value for each label in order."""
        (self._prometheus.labels(*values) if values else self._prometheus).set(value)
        self._otel.set(value, dict(zip(self._labels, values, strict=True)))


class Duration:
    """A histogram of seconds. Its name ends with `_seconds`."""

    __slots__ = ("_labels", "_otel", "_prometheus", "name")

    def __init__(self, name: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name, self._labels = name, tuple(labels)
        self._prometheus = prometheus_client.Histogram(
            name, about, labels, registry=registry, buckets=DURATION_BUCKETS_S
        )
        self._otel = _meter.create_histogram(name, unit="s", description=about)

    def observe(self, seconds: float, *values: str) -> None:
        """Record one duration, with one value for each label in order."""
        (self._prometheus.labels(*values) if values else self._prometheus).observe(seconds)
        self._otel.record(seconds, dict(zip(self._labels, values, strict=True)))
