import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { access, readFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type PlaybookOptions, type Settings, settingsOf } from "./options.ts"
import { sandboxArguments } from "./sandbox.ts"

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
  readonly sandbox: { readonly works: true } | { readonly works: false; readonly because: string }
  /** Where the tool finds the collections of the host. */
  readonly collectionFolders: readonly string[]
  /** The tool's own folder where that is not the system's: a virtual environment, such as pipx makes. */
  readonly toolFolders: readonly string[]
}

interface Ran {
  readonly ok: boolean
  readonly output: string
  readonly because: string
}

const run = (program: string, args: readonly string[]): Effect.Effect<Ran> =>
  Effect.callback<Ran>((resume) => {
    const env = { PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C.UTF-8", HOME: "/nonexistent" }
    execFile(program, args, { env, timeout: 20_000, cwd: "/" }, (error, stdout, stderr) => {
      const because = error === null ? "" : error.code === "ENOENT" ? "it is not installed" : stderr.trim() || error.message
      resume(Effect.succeed({ ok: error === null, output: stdout, because: because.slice(0, 300) }))
    })
  })

/** Ansible's Python, and where its modules lie, as `ansible-playbook --version` tells. */
const readVersion = (output: string) => ({
  version: /core (?<version>[0-9][^\]\s]*)/u.exec(output)?.groups?.["version"],
  modules: /python module location = (?<path>\/\S+)/u.exec(output)?.groups?.["path"],
  python: /python version = .*\((?<path>\/[^)]+)\)\s*$/mu.exec(output)?.groups?.["path"],
})

const versionIn = async (folder: string, name: string): Promise<string | undefined> => {
  const [namespace = "", collection = ""] = name.split(".")
  const own = join(folder, "ansible_collections", namespace, collection)
  try {
    const manifest: unknown = JSON.parse(await readFile(join(own, "MANIFEST.json"), "utf8"))
    const info: unknown = Object(Object(manifest).collection_info).version
    return typeof info === "string" ? info : "unknown"
  } catch {
    return access(own).then(
      () => "unknown",
      () => undefined,
    )
  }
}

const findCollections = async (folders: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  const found = await Promise.all(
    usedCollections.map(async ({ name }) => {
      const versions = await Promise.all(folders.map((folder) => versionIn(folder, name)))
      const version = versions.find((each) => each !== undefined)
      return version === undefined ? [] : [[name, version] as const]
    }),
  )
  return new Map(found.flat())
}

/** The oldest that the playbooks are tested with. */
const oldest = [2, 14] as const

const tooOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
}

const trySandbox = (settings: Settings): Effect.Effect<AutomationAvailability["sandbox"]> =>
  settings.sandbox === "off"
    ? Effect.succeed({ works: false, because: "it is switched off" })
    : Effect.map(run("bwrap", [...sandboxArguments([]), "/usr/bin/true"]), ({ ok, because }) =>
        ok ? { works: true } : { works: false, because: `bwrap: ${because}` },
      )

/** Asks the host what it has. Changes nothing. */
export const automationAvailability = (options: PlaybookOptions): Effect.Effect<AutomationAvailability> =>
  Effect.gen(function* () {
    const settings = settingsOf(options)
    const told = yield* run(settings.program, ["--version"])
    const { version, modules, python } = readVersion(told.output)
    const folders = [
      ...settings.collections,
      "/usr/share/ansible/collections",
      // the `ansible` package puts them beside the modules
      ...(modules === undefined ? [] : [join(modules, "..")]),
    ]
    const collections = yield* Effect.promise(() => findCollections(folders))
    const imports = (module: string) =>
      python === undefined ? Effect.succeed(false) : Effect.map(run(python, ["-c", `import ${module}`]), ({ ok }) => ok)
    const [winrm, psrp, sshpass, sandbox] = yield* Effect.all(
      [imports("winrm"), imports("pypsrp"), Effect.map(run("sshpass", ["-V"]), ({ ok }) => ok), trySandbox(settings)],
      { concurrency: "unbounded" },
    )
    const because = !told.ok
      ? `${settings.program}: ${told.because}`
      : version === undefined
        ? `${settings.program} does not tell its version`
        : tooOld(version)
          ? `ansible-core ${version} is too old; ${oldest.join(".")} or later is needed`
          : settings.sandbox === "required" && !sandbox.works
            ? `playbooks may only run in a sandbox, and ${sandbox.because}`
            : undefined
    return {
      ansible: because === undefined ? version : undefined,
      because,
      collections,
      missing: usedCollections.filter(({ name }) => !collections.has(name)).map(({ name }) => name),
      winrm,
      psrp,
      sshpass,
      sandbox,
      collectionFolders: folders,
      toolFolders: python === undefined || python.startsWith("/usr/") ? [] : [dirname(dirname(python))],
    }
  })

/** One thing that an operator should know, as the service's own checks show it. */
export interface AutomationFinding {
  readonly level: "ok" | "warn" | "fail"
  readonly what: string
  readonly detail: string
  readonly hint?: string
}

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
    found.sandbox.works
      ? { level: "ok", what: "sandbox", detail: "roles run without access to the service's files" }
      : {
          level: "warn",
          what: "sandbox",
          detail: `roles can read what the service can read: ${found.sandbox.because}`,
          hint: "Install the package `bubblewrap` and let the service make namespaces.",
        },
  ]
}
