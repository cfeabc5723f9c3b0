"""What happened, said once: a room calls one function here, and metrics and logs hang on it.

Nobody else touches a metrics library. `jobs`, `runtime` and `batch` hold the sentences; `instruments`
gives each measured thing one name for Prometheus and OpenTelemetry alike.
"""
