"""What was counted when an operation was checked, sealed into the form that submits it.

Between check and button the backlog goes on living. So the form carries what the operator was shown, signed by
the server, and submitting counts again: if the jobs that would change are other than a few more or less, nothing is
submitted and the difference is shown. The seal fits one filter, kind and spec; it is no right to anything.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from fastapi import Request

from awa.http.context import served

PURPOSE: Final = "plan"
SEALED_MAX_AGE_S: Final = 3600.0
DRIFT_MIN_JOBS: Final = 10
DRIFT_SHARE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Plan:
    """What was shown: how many jobs would change, for exactly this filter, kind and spec."""

    jobs: int
    matter: str
    nonce: str

    @property
    def tolerance(self) -> int:
        """So many more or less are still the same deed."""
        return max(DRIFT_MIN_JOBS, int(self.jobs * DRIFT_SHARE))

    def drifted(self, jobs: int) -> bool:
        """Whether what is there now is another population than the one that was shown."""
        return abs(jobs - self.jobs) > self.tolerance


def matter_of(op_kind: str, filter_text: str, spec: Mapping[str, Any]) -> str:
    """A short fingerprint of what is to be done to which jobs."""
    text = json.dumps([op_kind, filter_text, spec], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def seal(request: Request, jobs: int, matter: str) -> str:
    """What goes into the form."""
    plan = Plan(jobs, matter, secrets.token_urlsafe(12))
    return served(request).access.sessions.sign(PURPOSE, asdict(plan))


def unseal(request: Request, sealed: str, matter: str) -> Plan | None:
    """What was shown, if this server signed it within the last hour for the same filter, kind and spec."""
    seen = served(request).access.sessions.signed(PURPOSE, sealed, SEALED_MAX_AGE_S)
    if not isinstance(seen, dict):
        return None
    plan = Plan(int(seen["jobs"]), str(seen["matter"]), str(seen["nonce"]))
    return plan if plan.matter == matter else None
