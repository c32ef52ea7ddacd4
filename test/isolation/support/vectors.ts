import { readFileSync } from "node:fs"
import { join } from "node:path"
import { tarGz } from "../../contracts/content/support/archives.ts"
import { programs } from "./outside-world.ts"
import type { Probe } from "./probes.ts"

const role = "spy"

/** Runs probes where tools run, as a line of shell. Their results are a file in the home of the run. */
const probing = (probes: "all" | "few", as: string): string => {
  const files = `\${ANSIBLE_ROLES_PATH%%:*}/${role}/files`
  return `mkdir -p "$HOME/told" && python3 "${files}/prober.py" "${files}/${probes}.json" > "$HOME/told/${as}.json"`
}
/** The same within the process of the tool, in Python. */
const inProcess = (as: string): string => `__import__("os").system(${JSON.stringify(probing("few", as))})`
const pipe = (as: string): string => `{{ lookup('pipe', '${probing("few", as)}; echo told') }}`

/** Ways in which a tenant's code runs on the service's host, each with the name under which its probes report. */
export const vectors = [
  "task",
  "role-vars",
  "global-role-vars",
  "role-lookup",
  "role-filter",
  "collection-lookup",
  "collection-filter",
  "collection-connection",
  "collection-become",
  "action",
  "module",
] as const

/** The range configuration that uses it. */
export const templates = {
  role_vars: { told: pipe("role-vars") },
  global_role_vars: { told_too: pipe("global-role-vars") },
} as const

const lookup = (as: string): string => `from ansible.plugins.lookup import LookupBase
class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        ${inProcess(as)}
        return ["told"]
`
const filter = (as: string): string => `def tell(value):
    ${inProcess(as)}
    return "told"
class FilterModule:
    def filters(self):
        return {"${as.replace("-", "_")}": tell}
`
const action = `from ansible.plugins.action import ActionBase
class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        ${inProcess("action")}
        return {"changed": False}
`
const connection = `from ansible.plugins.connection.local import Connection as Local
DOCUMENTATION = """
name: away
short_description: runs things
description: runs things
"""
class Connection(Local):
    transport = "evil.kit.away"
    def _connect(self):
        ${inProcess("collection-connection")}
        return super()._connect()
`
const become = `from ansible.plugins.become import BecomeBase
DOCUMENTATION = """
name: up
short_description: becomes
description: becomes
"""
class BecomeModule(BecomeBase):
    name = "evil.kit.up"
    def build_become_command(self, cmd, shell):
        ${inProcess("collection-become")}
        return cmd
`
const module = `from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule(argument_spec={})
${inProcess("module")}
module.exit_json(changed=False)
`

/** Plugins as a collection ships them, by their paths below `ansible_collections`. */
export const collection: Readonly<Record<string, string>> = {
  "evil/kit/plugins/lookup/tells.py": lookup("collection-lookup"),
  "evil/kit/plugins/filter/tells.py": filter("collection-filter"),
  "evil/kit/plugins/connection/away.py": connection,
  "evil/kit/plugins/become/up.py": become,
}

interface Task {
  readonly [word: string]: unknown
}

const shell = (line: string, more: Task = {}): Task => ({ "ansible.builtin.shell": line, delegate_to: "localhost", ...more })
const say = (text: string): Task => ({ "ansible.builtin.debug": { msg: text }, delegate_to: "localhost" })

const tasks: readonly Task[] = [
  shell(probing("all", "task"), { name: "Run a task on the service's host" }),
  say("{{ told }} {{ global_role_vars.told_too }}"),
  say("{{ lookup('role_tells') }} {{ 1 | role_filter }}"),
  say("{{ lookup('evil.kit.tells') }} {{ 1 | evil.kit.collection_filter }}"),
  { "ansible.builtin.command": "true", vars: { ansible_connection: "evil.kit.away" } },
  shell("true", { become: true, vars: { ansible_become_method: "evil.kit.up" } }),
  { tell_by_action: {} },
  { tell_by_module: {}, delegate_to: "localhost" },
]

/** The last task: brings all reports to the machine. */
const tell: readonly Task[] = [
  shell(
    `cd "$HOME/told" && python3 -c 'import glob, json; print(json.dumps({name[:-5]: json.load(open(name)) for name in glob.glob("*.json")}))'`,
    { register: "all_told" },
  ),
  { "ansible.builtin.copy": { dest: "/tmp/told", content: "{{ all_told.stdout }}", mode: "0644" } },
]

/** An archive of a role, from its tasks and further files. */
export const roleOf = (name: string, roleTasks: readonly Task[], more: Readonly<Record<string, string>> = {}): Buffer => {
  const files = { "meta/main.yml": "galaxy_info: {author: mallory}\n", "tasks/main.yml": JSON.stringify(roleTasks), ...more }
  return tarGz(Object.entries(files).map(([path, content]) => ({ name: `${name}/${path}`, content })))
}

/** An archive of a role that tries all probes in every way. */
export const spy = (all: readonly Probe[], few: readonly Probe[]): Buffer =>
  roleOf(role, [...tasks, ...tell], {
    "files/prober.py": readFileSync(join(programs, "prober.py"), "utf8"),
    "files/all.json": JSON.stringify(all),
    "files/few.json": JSON.stringify(few),
    "lookup_plugins/role_tells.py": lookup("role-lookup"),
    "filter_plugins/role_tells.py": filter("role-filter"),
    "action_plugins/tell_by_action.py": action,
    "library/tell_by_action.py": module,
    "library/tell_by_module.py": module,
  })

const escapes = "\u001b]0;owned\u0007\u001b[2J"

/** False answers of a machine: facts that are templates, and facts that say how to reach it. */
const hostileFacts = (victim: string): string =>
  JSON.stringify({
    changed: false,
    msg: escapes,
    ansible_facts: {
      ansible_connection: "local",
      ansible_host: victim,
      ansible_python_interpreter: "/bin/false",
      discovered_interpreter_python: "/bin/false",
      ansible_local: { evil: "{{ lookup('pipe', 'touch $HOME/facts-ran') }}" },
      evil: "{{ lookup('pipe', 'touch $HOME/facts-ran') }}",
    },
  })

/** A role on a lying machine, whose author attacks the other tenant's machine with Ansible's own features. */
export const liar = (victim: string): Buffer => {
  const stolen = { ansible_host: victim, ansible_user: "debian", ansible_password: "debian" }
  const tried = { ignore_unreachable: true, ignore_errors: true, changed_when: false }
  const lies = { ansible_python_interpreter: "/tmp/lies" }
  const lied: readonly Task[] = [
    // a file, not a string: templates in a string would be the role's own
    { "ansible.builtin.copy": { src: "lies", dest: "/tmp/lies", mode: "0755" } },
    { "ansible.builtin.setup": {}, vars: lies },
    { "ansible.builtin.debug": { msg: "{{ evil }} {{ ansible_facts.evil }} {{ ansible_local }} {{ ansible_facts | to_json }}" } },
    { "ansible.builtin.command": "hostname", register: "answered", changed_when: false },
    shell("ls $HOME", { register: "left", changed_when: false }),
    { "ansible.builtin.command": "hostname", register: "as_host", vars: { ansible_host: victim }, ...tried },
    { "ansible.builtin.add_host": { name: "stolen", ...stolen, ansible_ssh_common_args: "{{ ansible_ssh_common_args }}" } },
    { "ansible.builtin.add_host": { name: "stolen_directly", ...stolen } },
    { "ansible.builtin.command": "hostname", register: "as_added", delegate_to: "stolen", ...tried },
    { "ansible.builtin.command": "hostname", register: "as_added_directly", delegate_to: "stolen_directly", ...tried },
    { "ansible.builtin.command": "hostname", register: "as_named", delegate_to: victim, ...tried },
    { "ansible.builtin.meta": "clear_host_errors" },
    {
      "ansible.builtin.copy": {
        dest: "/tmp/lied",
        mode: "0644",
        content: `{{ {"answered": answered.stdout, "left": left.stdout_lines, "others": [as_host, as_added, as_added_directly, as_named] | map(attribute="stdout", default="") | list, "why": as_host.msg | default("")} | to_json }}`,
      },
    },
  ]
  return roleOf("liar", lied, { "files/lies": `#!/bin/sh\ncat <<'EOF'\n${hostileFacts(victim)}\nEOF\n` })
}

/** A role that does what real-world roles do on the service's host and on their machines. */
export const honest = (certificate: string): Buffer => {
  const kept = "{{ ludus_install_path }}"
  const local = { delegate_to: "localhost" }
  const secure = { ca_path: "{{ role_path }}/files/ca.pem" }
  return roleOf(
    "honest",
    [
      { "ansible.builtin.setup": {} },
      { "ansible.builtin.get_url": { url: "http://public.example/file", dest: `${kept}/plain`, mode: "0600" }, ...local },
      {
        "ansible.builtin.get_url": {
          url: "https://public.example/file",
          dest: `${kept}/secure`,
          mode: "0600",
          validate_certs: false,
        },
        ...local,
      },
      {
        "ansible.builtin.uri": { url: "https://public.example/file", return_content: true, ...secure },
        register: "asked",
        ...local,
      },
      { "ansible.builtin.git": { repo: "http://public.example/repository.git", dest: `${kept}/clone` }, ...local },
      shell(`curl -sf http://public.example/file; curl -sf http://[2600:5::5]/file`, { register: "curled" }),
      shell(`curl -sf --cacert "{{ role_path }}/files/ca.pem" https://public.example/file`, { register: "curled_securely" }),
      shell(`python3 -c 'import urllib.request; print(urllib.request.urlopen("http://public.example/file").read().decode())'`, {
        register: "by_python",
      }),
      { "ansible.builtin.copy": { src: `${kept}/plain`, dest: "/tmp/brought", mode: "0644" } },
      { "ansible.builtin.command": "cat /tmp/brought", register: "brought" },
      { "ansible.builtin.fetch": { src: "/tmp/brought", dest: `${kept}/fetched`, flat: true } },
      { "ansible.builtin.template": { src: "note.j2", dest: "/tmp/note", mode: "0644" } },
      { "ansible.builtin.command": "cat /tmp/note", register: "note" },
      { "ansible.builtin.command": "hostname", delegate_to: "{{ range_id }}-helper", register: "helper" },
      { "ansible.builtin.command": "hostname", delegate_to: "{{ default_router_vm_name }}", register: "router" },
      { "ansible.builtin.copy": { dest: "/tmp/honest", mode: "0644", content: "{{ told | to_json }}" }, vars: { told } },
    ],
    {
      "files/ca.pem": certificate,
      "templates/note.j2": "{{ range_id }} {{ ansible_facts.hostname }} {{ hostvars[range_id ~ '-helper'].ansible_host }}",
    },
  )
}
const told = {
  plain: "{{ lookup('file', ludus_install_path ~ '/plain') }}",
  secure: "{{ lookup('file', ludus_install_path ~ '/secure') }}",
  fetched: "{{ lookup('file', ludus_install_path ~ '/fetched') }}",
  cloned: "{{ lookup('file', ludus_install_path ~ '/clone/README') }}",
  looked_up: "{{ lookup('url', 'http://public.example/file') }}",
  asked: "{{ asked.content }}",
  curled: "{{ curled.stdout }}",
  curled_securely: "{{ curled_securely.stdout }}",
  by_python: "{{ by_python.stdout | trim }}",
  brought: "{{ brought.stdout }}",
  note: "{{ note.stdout }}",
  helper: "{{ helper.stdout }}",
  router: "{{ router.stdout }}",
}
