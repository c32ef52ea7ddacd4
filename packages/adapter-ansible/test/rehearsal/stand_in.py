"""Stands in for the modules that work on Windows: notes what each is asked for, and answers as the rehearsal's machine would."""

import json
import os

from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        self._supports_async = True
        result = super().run(tmp, task_vars)
        module, task = self._task.action, self._task.get_name()
        note = {"module": module, "task": task, "arguments": self._task.args}
        if self._play_context.become:
            note["become"] = self._play_context.become_user
        if self._task.async_val:
            note["async"] = True
        if module.endswith(".win_template"):
            with open(self._find_needle("templates", self._task.args["src"])) as source:
                note["content"] = self._templar.template(source.read())
        with open(os.environ["REHEARSAL_NOTES"], "a") as notes:
            notes.write(json.dumps(note) + "\n")
        # as modules do: what is no password by its name, they tell
        result["asked"] = {name: value for name, value in self._task.args.items() if not name.endswith("password")}
        with open(os.environ["REHEARSAL_ANSWERS"]) as file:
            answers = json.load(file)
        result.update({**answers["*"], **answers.get(module, {}), **answers.get(task, {})})
        return result
