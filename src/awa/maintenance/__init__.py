"""Maintenance: one leader, chosen by a lease, keeps house for everybody.

leader.py holds the election and the lease, term.py the gate that fences a deposed leader off, duties.py the
table of what is done and how often, keeping.py the loop; each duty is a file. maintenance.py is the whole.
"""

from awa.maintenance.maintenance import Maintenance

__all__ = ["Maintenance"]
