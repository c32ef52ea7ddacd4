import { type GuestStage, guestStages } from "@rangewright/domain"
import { openToolHost, placesOf, sandboxProblem, type ToolHost } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { ask, collectionsIn, hostCollectionFolders, programFolders, readVersion, versionProblem } from "../tool/host-ansible.ts"
import { type PlaybookOptions, settingsOf } from "./options.ts"

const windowsStages = guestStages.filter((stage) => stage !== "role")

/** The collections used by the built-in playbooks; `needs` says what is impossible without one, `stages` which Windows stages. */
export const usedCollections = [
  { name: "ansible.posix", needs: "the log shows tasks one by one", stages: [] },
  { name: "ansible.windows", needs: "Windows machines", stages: windowsStages },
  { name: "community.windows", needs: "Windows machines", stages: ["windows-base", "kms-server"] },
  { name: "microsoft.ad", needs: "domains", stages: ["primary-dc", "alt-dc", "domain-join"] },
  { name: "chocolatey.chocolatey", needs: "packages on Windows", stages: ["chocolatey", "additional-tools"] },
  { name: "community.general", needs: "roles that expect it", stages: [] },
] as const satisfies readonly {
  readonly name: string
  readonly needs: string
  readonly stages: readonly GuestStage[]
}[]

type CollectionName = (typeof usedCollections)[number]["name"]

export interface AutomationAvailability {
  /** Undefined when nothing can run. */
  readonly ansible: string | undefined
  readonly because: string | undefined
  /** What to do when nothing can run. */
  readonly hint: string
  /** Versions by name, of the used collections that were found. */
  readonly collections: ReadonlyMap<string, string>
  readonly missing: readonly CollectionName[]
  /** Whether Ansible's Python has the libraries for the Windows protocols. */
  readonly winrm: boolean
  readonly psrp: boolean
  /** Whether SSH can use passwords. */
  readonly sshpass: boolean
  readonly host: ToolHost
  /** Folders of the host where the tool finds collections. */
  readonly collectionFolders: readonly string[]
  /** The tool's own folders outside the system's: a virtual environment, as created by pipx. */
  readonly toolFolders: readonly string[]
  /** Files and folders of the host that all this was read from. */
  readonly foundBy: readonly string[]
}

/** Which modules Ansible's own Python has. */
interface PythonHas {
  readonly winrm: boolean
  readonly psrp: boolean
  readonly path: readonly string[]
}

const pythonHas = `import json, sys
def has(name):
    try: __import__(name)
    except Exception: return False
    return True
print(json.dumps({"winrm": has("winrm"), "psrp": has("pypsrp"), "path": [p for p in sys.path if p]}))`

const askPython = (python: string | undefined): Effect.Effect<PythonHas> =>
  python === undefined
    ? Effect.succeed({ winrm: false, psrp: false, path: [] })
    : Effect.map(ask(python, ["-c", pythonHas]), ({ ok, output }) =>
        ok ? (JSON.parse(output) as PythonHas) : { winrm: false, psrp: false, path: [] },
      )

/** Detects what the host has. Changes nothing. */
export const automationAvailability = (options: PlaybookOptions): Effect.Effect<AutomationAvailability> =>
  Effect.gen(function* () {
    const settings = settingsOf(options)
    const told = yield* ask(settings.program, ["--version"])
    const { version, modules, python } = readVersion(told.output)
    const folders = hostCollectionFolders(settings.collections, modules)
    const ofHost = yield* Effect.promise(() => collectionsIn(folders))
    const used = usedCollections.filter(({ name }) => ofHost.has(name))
    const collections = new Map(used.map(({ name }) => [name, ofHost.get(name) ?? "unknown"]))
    const [{ winrm, psrp, path }, sshpass, host] = yield* Effect.all(
      [askPython(python), Effect.map(ask("sshpass", ["-V"]), ({ ok }) => ok), openToolHost(settings.tools)],
      { concurrency: "unbounded" },
    )
    const tool = !told.ok
      ? `${settings.program}: ${told.because}`
      : version === undefined
        ? `${settings.program} does not report its version`
        : versionProblem(version)
    const because = tool ?? sandboxProblem(host.choice, host.sandbox)
    return {
      ansible: because === undefined ? version : undefined,
      because,
      hint: tool === undefined ? remedies.sandbox : remedies.ansible,
      collections,
      missing: usedCollections.filter(({ name }) => !collections.has(name)).map(({ name }) => name),
      winrm,
      psrp,
      sshpass,
      host,
      collectionFolders: folders,
      toolFolders: yield* Effect.promise(() => programFolders(settings.program)),
      foundBy: [
        ...placesOf(settings.program),
        ...placesOf("sshpass"),
        ...folders.flatMap((folder) =>
          ["", ...new Set(usedCollections.map(({ name }) => name.split(".")[0] ?? ""))].map((namespace) =>
            join(folder, "ansible_collections", namespace),
          ),
        ),
        ...path,
      ],
    }
  })

/** What to do when something is missing. */
export const remedies = {
  ansible: "Install ansible-core 2.14 or later and the collections of the package `ansible`.",
  sandbox: "Install the package `bubblewrap` (0.8 or later) and allow the service to create namespaces.",
  collections: "Install the package `ansible`, or configure a folder that contains `ansible_collections`.",
  sshpass: "Install the package `sshpass`.",
  windows: (protocol: "winrm" | "psrp") =>
    `Install ${windowsModule(protocol)} for Ansible's Python (package \`python3-${protocol === "winrm" ? "winrm" : "pypsrp"}\`).`,
}

export const windowsModule = (protocol: "winrm" | "psrp"): string => (protocol === "winrm" ? "pywinrm" : "pypsrp")

/** One finding for the operator, shown by the service's own checks. */
export interface AutomationFinding {
  readonly level: "ok" | "warn" | "fail"
  readonly what: string
  readonly detail: string
  readonly hint?: string
}

/** What limits tools. */
const hostFindings = ({ sandbox, choice, cgroups }: ToolHost): readonly AutomationFinding[] => [
  sandbox.works
    ? { level: "ok", what: "sandbox", detail: "tools cannot see the service's files or network" }
    : {
        level: "warn",
        what: "sandbox",
        detail:
          choice === "off"
            ? `roles can read and reach everything that the service can: ${sandbox.because}`
            : `only roles that administrators installed run, in ranges whose configuration has no templates: ${sandbox.because}`,
        hint: remedies.sandbox,
      },
  "hierarchies" in cgroups
    ? { level: "ok", what: "limits", detail: "each run of a tool has a control group" }
    : {
        level: "warn",
        what: "limits",
        detail: `memory and processes of a run are limited for each process only: ${cgroups.because}`,
        hint: "Run the service from a unit that delegates control groups, as examples/rangewright.service does (Delegate=).",
      },
]

/** The findings for people, with what to do about missing parts. */
export const automationFindings = (found: AutomationAvailability, windows: "winrm" | "psrp"): readonly AutomationFinding[] => {
  if (found.ansible === undefined)
    return [
      {
        level: "fail",
        what: "ansible",
        detail: `nothing can be run inside machines: ${found.because ?? "Ansible was not found"}`,
        hint: found.hint,
      },
    ]
  const speaks = windows === "winrm" ? found.winrm : found.psrp
  const module = windowsModule(windows)
  return [
    { level: "ok", what: "ansible", detail: `ansible-core ${found.ansible}` },
    found.missing.length === 0
      ? { level: "ok", what: "collections", detail: [...found.collections].map(([name, v]) => `${name} ${v}`).join(", ") }
      : {
          level: "warn",
          what: "collections",
          detail: `missing: ${usedCollections
            .filter(({ name }) => found.missing.includes(name))
            .map(({ name, needs }) => `${name} (${needs})`)
            .join(", ")}`,
          hint: remedies.collections,
        },
    found.sshpass
      ? { level: "ok", what: "sshpass", detail: "SSH can use the templates' passwords" }
      : {
          level: "fail",
          what: "sshpass",
          detail: "there is no way to log in to Linux machines",
          hint: remedies.sshpass,
        },
    speaks
      ? { level: "ok", what: "Windows", detail: `reached with ${module}` }
      : {
          level: "warn",
          what: "Windows",
          detail: `Windows machines cannot be reached: Ansible's Python has no ${module}`,
          hint: remedies.windows(windows),
        },
    ...hostFindings(found.host),
  ]
}
