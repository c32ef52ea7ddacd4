#!/usr/bin/python
"""Writes complete text files, several in one run: each run of a module costs the machine and the service's host more than the files do.

Files that are already right are left alone; others are replaced atomically with a temporary file. `written` names those whose text changed.
Missing folders are created."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

import os
import tempfile

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.text.converters import to_bytes

FILE = {
    "path": {"type": "path", "required": True},
    "content": {"type": "str", "required": True},
    "mode": {"type": "str", "required": True},
    "directory_mode": {"type": "str", "default": "0755"},
    # command that fails for an invalid file; %s is the file
    "validate": {"type": "str"},
}


def make_folder(path, mode):
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path), mode)
    os.mkdir(path)
    os.chmod(path, int(mode, 8))


def text_of(path):
    try:
        with open(path, "rb") as known:
            return known.read()
    except (IOError, OSError):
        return None


def replace(module, path, text, validate):
    handle, new = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "wb") as beside:
        beside.write(text)
    if validate:
        code, output, errors = module.run_command(validate % new)
        if code != 0:
            module.fail_json(msg="%s is refused by %s: %s%s" % (path, validate.split(" ")[0], output, errors))
    module.atomic_move(new, path)


def main():
    module = AnsibleModule(argument_spec={"files": {"type": "list", "elements": "dict", "required": True, "options": FILE}})
    # nobody else may read a new file until it has its own mode
    os.umask(0o077)
    changed, written = False, []
    for each in module.params["files"]:
        path, text = each["path"], to_bytes(each["content"])
        make_folder(os.path.dirname(path), each["directory_mode"])
        if text_of(path) != text:
            replace(module, path, text, each["validate"])
            written.append(path)
        changed = module.set_mode_if_different(path, each["mode"], changed)
    module.exit_json(changed=changed or len(written) > 0, written=written)


if __name__ == "__main__":
    main()
