"""Lets facts and registered results outlive one run of ansible-playbook.

Each role is a separate run. Before the first play, hosts get the facts that earlier roles set; at the end those that
this role set are written out. Both keep the precedence that they have within a run. A value is JSON text, so that the
service can store it without parsing it. Values are data: no string in them is a template, wherever it came from.
"""

import datetime
import json
import os
from collections.abc import Mapping, Set

from ansible.plugins.callback import CallbackBase

try:
    # since 2.19 a string is a template only where it is marked as one
    from ansible.template import trust_as_template as _  # noqa: F401

    def as_data(value):
        return value

except ImportError:
    from ansible.utils.unsafe_proxy import wrap_var as as_data

DOCUMENTATION = """
name: rangewright_facts
type: aggregate
short_description: Lets facts and registered results outlive one run.
description: Reads them from the file ANSIBLE_CARRIED_FACTS_IN and writes what was set to ANSIBLE_CARRIED_FACTS_OUT.
"""

LONGEST_VALUE = 1024 * 1024
LONGEST_OUTPUT = 4 * 1024 * 1024


def plain(value):
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return list(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "rangewright_facts"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super().__init__()
        self.manager = None
        self.known = {}
        self.in_role = False
        self.written = {"initial": {}, "set": {}}
        self.left = LONGEST_OUTPUT

    def v2_playbook_on_play_start(self, play):
        if self.manager is None:
            self.manager = play.get_variable_manager()
            self.load()

    def v2_playbook_on_task_start(self, task, is_conditional):
        # everything set before this task is what hosts begin with; facts set by roles build on it
        if not self.in_role and "rangewright_role_follows" in task.vars:
            self.in_role = True
            self.collect("initial")
            self.load()

    def v2_playbook_on_stats(self, stats):
        self.collect("set" if self.in_role else "initial")
        with open(os.environ["ANSIBLE_CARRIED_FACTS_OUT"], "w", encoding="utf-8") as out:
            json.dump(self.written, out)

    def facts(self):
        """Registered results and facts set so far, by host."""
        return self.manager._nonpersistent_fact_cache

    def load(self):
        with open(os.environ["ANSIBLE_CARRIED_FACTS_IN"], encoding="utf-8") as given:
            hosts = json.load(given)
        for host, values in hosts.items():
            for name, text in values.items():
                try:
                    value = as_data(json.loads(text))
                except (ValueError, RecursionError):
                    continue
                self.manager.set_nonpersistent_facts(host, {name: value})
        self.remember()

    def remember(self):
        # values are replaced, never mutated
        self.known = {host: dict(values) for host, values in self.facts().items()}

    def collect(self, part):
        for host, values in self.facts().items():
            known = self.known.get(host, {})
            for name, value in values.items():
                if name not in known or known[name] is not value:
                    self.write(part, host, name, value)
        self.remember()

    def write(self, part, host, name, value):
        try:
            text = json.dumps(value, default=plain)
        except (TypeError, ValueError, RecursionError):
            text = None
        if text is None or len(text) > min(LONGEST_VALUE, self.left):
            self._display.warning(f"{name} of {host} is too large for later roles to see")
            return
        self.left -= len(text)
        self.written[part].setdefault(host, {})[name] = text
