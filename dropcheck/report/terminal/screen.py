"""The former place of `report.screen`."""

from dropcheck.report.screen import *  # noqa: F403
