import { openToolHost, sandboxProblem, type ToolHost } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { ask, collectionsIn, hostCollectionFolders, programFolders, readVersion, versionProblem } from "../tool/host-ansible.ts"
import { type PlaybookOptions, settingsOf } from "./options.ts"

/** The collections that the built-in playbooks use; `needs` says what cannot be done without one. */
export const usedCollections = [
  { name: "ansible.posix", needs: "the log tells tasks one by one" },
  { name: "ansible.windows", needs: "Windows machines" },
  { name: "community.windows", needs: "Windows machines" },
  { name: "microsoft.ad", needs: "domains" },
  { name: "chocolatey.chocolatey", needs: "packages on Windows" },
  { name: "community.general", needs: "roles that expect it" },
] as const

type CollectionName = (typeof usedCollections)[number]["name"]

export interface AutomationAvailability {
  /** Undefined: nothing can be run. */
  readonly ansible: string | undefined
  readonly because: string | undefined
  /** Version by name, of those that are used and were found. */
  readonly collections: ReadonlyMap<string, string>
  readonly missing: readonly CollectionName[]
  /** Whether Ansible's own Python speaks the protocols of Windows. */
  readonly winrm: boolean
  readonly psrp: boolean
  /** Whether SSH can be given passwords. */
  readonly sshpass: boolean
  readonly host: ToolHost
  /** Where the tool finds the collections of the host. */
  readonly collectionFolders: readonly string[]
  /** The tool's own folder where that is not the system's: a virtual environment, such as pipx makes. */
  readonly toolFolders: readonly string[]
}

/** Asks the host what it has. Changes nothing. */
export const automationAvailability = (options: PlaybookOptions): Effect.Effect<AutomationAvailability> =>
  Effect.gen(function* () {
    const settings = settingsOf(options)
    const told = yield* ask(settings.program, ["--version"])
    const { version, modules, python } = readVersion(told.output)
    const folders = hostCollectionFolders(settings.collections, modules)
    const ofHost = yield* Effect.promise(() => collectionsIn(folders))
    const used = usedCollections.filter(({ name }) => ofHost.has(name))
    const collections = new Map(used.map(({ name }) => [name, ofHost.get(name) ?? "unknown"]))
    const imports = (module: string) =>
      python === undefined ? Effect.succeed(false) : Effect.map(ask(python, ["-c", `import ${module}`]), ({ ok }) => ok)
    const [winrm, psrp, sshpass, host] = yield* Effect.all(
      [imports("winrm"), imports("pypsrp"), Effect.map(ask("sshpass", ["-V"]), ({ ok }) => ok), openToolHost(settings.tools)],
      { concurrency: "unbounded" },
    )
    const because = !told.ok
      ? `${settings.program}: ${told.because}`
      : version === undefined
        ? `${settings.program} does not tell its version`
        : (versionProblem(version) ?? sandboxProblem(host.choice, host.sandbox))
    return {
      ansible: because === undefined ? version : undefined,
      because,
      collections,
      missing: usedCollections.filter(({ name }) => !collections.has(name)).map(({ name }) => name),
      winrm,
      psrp,
      sshpass,
      host,
      collectionFolders: folders,
      toolFolders: yield* Effect.promise(() => programFolders(settings.program)),
    }
  })

/** One thing that an operator should know, as the service's own checks show it. */
export interface AutomationFinding {
  readonly level: "ok" | "warn" | "fail"
  readonly what: string
  readonly detail: string
  readonly hint?: string
}

/** What holds tools to their limits. */
const hostFindings = ({ sandbox, choice, cgroups }: ToolHost): readonly AutomationFinding[] => [
  sandbox.works
    ? { level: "ok", what: "sandbox", detail: "tools see neither the service's files nor its network" }
    : {
        level: "warn",
        what: "sandbox",
        detail:
          choice === "off"
            ? `roles can read what the service can read, and reach what it can reach: ${sandbox.because}`
            : `only roles that administrators installed run, in ranges whose configuration has no templates: ${sandbox.because}`,
        hint: "Install the package `bubblewrap` (0.8 or later) and let the service make namespaces.",
      },
  "hierarchies" in cgroups
    ? { level: "ok", what: "limits", detail: "each run of a tool has a control group" }
    : {
        level: "warn",
        what: "limits",
        detail: `memory and processes of a run are limited for each process only: ${cgroups.because}`,
        hint: "Run the service by a unit with Delegate=yes, as examples/rangewright.service does.",
      },
]

/** What was found, in words, with what to do about the rest. */
export const automationFindings = (found: AutomationAvailability, windows: "winrm" | "psrp"): readonly AutomationFinding[] => {
  if (found.ansible === undefined)
    return [
      {
        level: "fail",
        what: "ansible",
        detail: `nothing can be run inside machines: ${found.because ?? "Ansible was not found"}`,
        hint: "Install ansible-core 2.14 or later and the collections of the package `ansible`.",
      },
    ]
  const speaks = windows === "winrm" ? found.winrm : found.psrp
  const module = windows === "winrm" ? "pywinrm" : "pypsrp"
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
          hint: "Install the package `ansible`, or name a folder that holds `ansible_collections`.",
        },
    found.sshpass
      ? { level: "ok", what: "sshpass", detail: "SSH can be given the templates' passwords" }
      : {
          level: "fail",
          what: "sshpass",
          detail: "Linux machines cannot be logged in to",
          hint: "Install the package `sshpass`.",
        },
    speaks
      ? { level: "ok", what: "Windows", detail: `spoken to with ${module}` }
      : {
          level: "warn",
          what: "Windows",
          detail: `Windows machines cannot be spoken to: Ansible's Python has no ${module}`,
          hint: `Install ${module} for Ansible's Python (package \`python3-${windows === "winrm" ? "winrm" : "pypsrp"}\`).`,
        },
    ...hostFindings(found.host),
  ]
}
