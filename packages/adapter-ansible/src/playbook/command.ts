import { type Mount, systemPath } from "@rangewright/host-tools"
import { dirname, isAbsolute } from "node:path"
import type { AutomationAvailability } from "./availability.ts"
import { type Settings, searchPaths } from "./options.ts"

/** Everything that one run of the tool needs. */
export interface Run {
  /** Scratch folder with the files named here. */
  readonly scratch: string
  /** Path of the playbook. */
  readonly playbook: string
  /** Names in the scratch folder; later ones take precedence. */
  readonly inventories: readonly string[]
  readonly variables: readonly string[]
  /** The user whose roles it may use. */
  readonly userId: string | undefined
  /** Where gathered facts are kept between runs; undefined when they are gathered for this run alone. */
  readonly facts: string | undefined
  /**
   * Names of the files in the scratch folder with the facts that earlier roles set, and that this one sets; undefined when nothing is
   * carried over.
   */
  readonly carried: { readonly from: string; readonly to: string } | undefined
  /** Where roles may keep files; they see it as their installation folder. */
  readonly workspace: string
  readonly environment: Readonly<Record<string, string>>
  readonly verbose: boolean
}

/** Path of the workspace inside the sandbox: the folder that roles were written for. */
const installFolder = "/opt/ludus"

/** The path under which roles see their workspace. */
export const workspaceSeen = ({ host }: Pick<AutomationAvailability, "host">, workspace: string): string =>
  host.sandbox.works ? installFolder : workspace

const path = (settings: Settings, found: AutomationAvailability): string =>
  [
    ...(isAbsolute(settings.program) ? [dirname(settings.program)] : []),
    ...found.toolFolders.map((folder) => `${folder}/bin`),
    systemPath,
  ].join(":")

/** Control sockets of connections need short paths, or the system refuses them. */
const longestSocketFolder = 60

/** Built from scratch: nothing of the service's own environment reaches roles. */
const environment = (settings: Settings, found: AutomationAvailability, run: Run): Readonly<Record<string, string>> => {
  const search = searchPaths(settings, run.userId)
  const home = `${run.scratch}/home`
  const sockets = found.host.sandbox.works ? "/tmp/ssh" : `${home}/ssh`
  const master = sockets.length <= longestSocketFolder ? " -o ControlMaster=auto -o ControlPersist=30s" : ""
  return {
    ...settings.environment,
    ...run.environment,
    PATH: path(settings, found),
    LANG: "C.UTF-8",
    LC_ALL: "C.UTF-8",
    TERM: "dumb",
    // this loopback belongs to the run
    no_proxy: "localhost,127.0.0.1",
    NO_PROXY: "localhost,127.0.0.1",
    HOME: home,
    ANSIBLE_HOME: `${home}/.ansible`,
    ANSIBLE_CONFIG: `${run.scratch}/ansible.cfg`,
    ANSIBLE_ROLES_PATH: search.roles.join(":"),
    ANSIBLE_COLLECTIONS_PATH: [...search.collections, ...found.collectionFolders].join(":"),
    ANSIBLE_STDOUT_CALLBACK: callbackOf(found) === "jsonl" ? "ansible.posix.jsonl" : "default",
    ANSIBLE_NOCOLOR: "1",
    ANSIBLE_RETRY_FILES_ENABLED: "0",
    ANSIBLE_HOST_KEY_CHECKING: "0",
    ANSIBLE_DEPRECATION_WARNINGS: "0",
    ANSIBLE_LOCALHOST_WARNING: "0",
    ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS: "ignore",
    ANSIBLE_PYTHON_INTERPRETER: "auto_silent",
    ANSIBLE_TIMEOUT: "20",
    ANSIBLE_PIPELINING: "1",
    ANSIBLE_SSH_RETRIES: "1",
    ANSIBLE_SSH_ARGS: `-C${master} -o ServerAliveInterval=15 -o ServerAliveCountMax=8`,
    ANSIBLE_SSH_CONTROL_PATH_DIR: sockets,
    ...(run.facts === undefined ? {} : keptFacts(run.facts)),
    ...(run.carried === undefined ? {} : carriedFacts(settings, run.scratch, run.carried)),
  }
}

/** Facts are gathered once for consecutive roles of a machine. */
const keptFacts = (folder: string): Readonly<Record<string, string>> => ({
  ANSIBLE_GATHERING: "smart",
  ANSIBLE_CACHE_PLUGIN: "jsonfile",
  ANSIBLE_CACHE_PLUGIN_CONNECTION: folder,
  ANSIBLE_CACHE_PLUGIN_TIMEOUT: "1800",
})

/** Facts set by a role reach later roles, of the same machine and of others. */
const carriedFacts = (
  { playbooks }: Settings,
  scratch: string,
  { from, to }: NonNullable<Run["carried"]>,
): Readonly<Record<string, string>> => ({
  ANSIBLE_CALLBACK_PLUGINS: `${playbooks}/callbacks`,
  ANSIBLE_CALLBACKS_ENABLED: "rangewright_facts",
  // the tool must not write to this package
  PYTHONDONTWRITEBYTECODE: "1",
  ANSIBLE_CARRIED_FACTS_IN: `${scratch}/${from}`,
  ANSIBLE_CARRIED_FACTS_OUT: `${scratch}/${to}`,
})

/** Uses the callback that prints events if its collection is installed; otherwise Ansible's output for people is parsed. */
export const callbackOf = ({ collections }: Pick<AutomationAvailability, "collections">): "jsonl" | "default" =>
  collections.has("ansible.posix") ? "jsonl" : "default"

/** One run of `ansible-playbook`. */
export interface PlaybookRun {
  readonly tool: readonly string[]
  readonly mounts: readonly Mount[]
  readonly env: Readonly<Record<string, string>>
}

/** The tool's command line and environment, not yet confined. */
export const playbookRun = (settings: Settings, found: AutomationAvailability, run: Run): PlaybookRun => {
  const tool = [
    settings.program,
    ...run.inventories.flatMap((name) => ["--inventory", `${run.scratch}/${name}`]),
    ...run.variables.flatMap((name) => ["--extra-vars", `@${run.scratch}/${name}`]),
    ...(run.verbose ? ["-vvv"] : []),
    run.playbook,
  ]
  const search = searchPaths(settings, run.userId)
  const mounts = [
    ...found.toolFolders.map((from) => ({ from })),
    ...[settings.playbooks, ...search.roles, ...search.collections].map((from) => ({ from })),
    ...(run.facts === undefined ? [] : [{ from: run.facts, writable: true }]),
    { from: run.workspace, to: installFolder, writable: true },
  ]
  return { tool, mounts, env: environment(settings, found, run) }
}
