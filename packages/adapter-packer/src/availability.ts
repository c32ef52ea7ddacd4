import { natNetwork } from "@rangewright/domain"
import type { BuilderAvailability } from "@rangewright/ports"
import { type Mount, openToolHost, placesOf, systemPath, type ToolHost } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { access, constants, readdir, realpath } from "node:fs/promises"
import { basename, join } from "node:path"
import { answerPorts } from "./answers.ts"
import { type LocalOptions, type LocalSettings, settingsOf } from "./options.ts"
import { addressTowards } from "./own-address.ts"

/** What this host has for builds. */
export interface Found {
  readonly host: ToolHost
  readonly version: string | undefined
  /** The address at which machines reach this host. */
  readonly address: string | undefined
  /** Files of the program and its plugins outside the system's folders, mounted one by one: anything may be beside them. */
  readonly mounts: readonly Mount[]
  /** What is missing, one fact each. */
  readonly because: readonly string[]
  /** What is missing for some templates only. */
  readonly lacks: readonly string[]
}

/** The oldest tested version, the first without a builder for Proxmox VE, and the last with a free licence. */
const oldest = [1, 6, 6] as const
const firstWithoutBuilder = [1, 9, 0] as const
const lastFree = [1, 10, 0] as const
/** The plugin version with which templates of public labs were tested. */
const testedPlugin = [1, 2, 4] as const

const isBefore = (version: string, other: readonly number[]): boolean => {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10))
  for (const [at, part] of other.entries()) if ((parts[at] ?? 0) !== part) return (parts[at] ?? 0) < part
  return false
}

const firstThere = async (program: string): Promise<string | undefined> => {
  for (const path of placesOf(program)) {
    const works = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (works) return path
  }
  return undefined
}

/** Packer's version, or why it is unknown. */
const askVersion = async (program: string): Promise<{ readonly version?: string; readonly because?: string }> => {
  // it writes nothing there for this, so a killed service leaves nothing
  const env = { PATH: systemPath, LC_ALL: "C.UTF-8", HOME: "/nonexistent", CHECKPOINT_DISABLE: "1" }
  const said = await new Promise<string>((resolve) => {
    execFile(program, ["version"], { env, timeout: 20_000, cwd: "/" }, (error, stdout) => resolve(error === null ? stdout : ""))
  })
  const version = /\bPacker v(?<version>\d+\.\d+\.\d+)/u.exec(said)?.groups?.["version"]
  return version === undefined ? { because: `${program} does not report its version` } : { version }
}

/** Plugins and their checksum files, at any depth. */
const pluginsIn = async (folder: string | undefined): Promise<readonly string[]> => {
  if (folder === undefined) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => !entry.isDirectory() && entry.name.startsWith("packer-plugin-"))
    .map((entry) => join(entry.parentPath, entry.name))
}

const isSystems = (path: string): boolean => /^\/(?:usr|bin|sbin)\//u.test(path)

/** Mounts of a program, at the paths by which it is called, and of plugins. */
const mountsOf = async (program: string | undefined, plugins: readonly string[]): Promise<readonly Mount[]> => {
  const seen = async (path: string): Promise<readonly Mount[]> => {
    const from = await realpath(path).catch(() => path)
    return [...new Set([from, path])].filter((to) => !isSystems(to)).map((to) => ({ from, to }))
  }
  return (await Promise.all([...(program === undefined ? [] : [program]), ...plugins].map(seen))).flat()
}

const builderProblem = (plugins: string | undefined, found: readonly string[], version: string): string | undefined => {
  if (isBefore(version, oldest)) return `Packer ${version} is too old; ${oldest.join(".")} or later is needed`
  if (isBefore(version, firstWithoutBuilder)) return undefined
  if (plugins === undefined) return `Packer ${version} has no built-in builder for Proxmox VE, and packer_plugins is not set`
  return found.some((path) => basename(path).startsWith("packer-plugin-proxmox"))
    ? undefined
    : `there is no packer-plugin-proxmox in ${plugins} (packer_plugins)`
}

const pluginVersion = /^packer-plugin-proxmox_v(?<version>\d+\.\d+\.\d+)/u

/** What templates lack when the newest plugin, judging by the file names, is an old one. Before 1.1.3, nothing works after an upload. */
const pluginLacks = (found: readonly string[]): readonly string[] => {
  const versions = found.flatMap((path) => pluginVersion.exec(basename(path))?.groups?.["version"] ?? [])
  if (versions.length === 0 || versions.some((version) => !isBefore(version, testedPlugin))) return []
  return [
    `some templates need the plugin proxmox ${testedPlugin.join(".")} or later: those with tpm_config or keep_cdrom_device and, where it is older than 1.1.3, those that upload images; ${versions.join(", ")} is there`,
  ]
}

/** Detects what the host has. Changes nothing. */
export const lookAround = (settings: LocalSettings): Effect.Effect<Found> =>
  Effect.gen(function* () {
    const host = yield* openToolHost(settings.tools)
    return yield* Effect.promise(async () => {
      const program = await firstThere(settings.program)
      const { version, because } =
        program === undefined ? { because: `${settings.program} is not installed` } : await askVersion(program)
      const plugins = await pluginsIn(settings.plugins)
      const builder = version === undefined ? because : builderProblem(settings.plugins, plugins, version)
      const address = settings.address ?? (await addressTowards(natNetwork))
      const needed = await Promise.all(["python3", "ip", "setpriv"].map(async (name) => ((await firstThere(name)) ? [] : [name])))
      const discs = await Promise.all(["xorriso", "mkisofs", "genisoimage"].map(firstThere))
      const ansible = await firstThere("ansible-playbook")
      return {
        host,
        version,
        address,
        mounts: await mountsOf(program, plugins),
        because: [
          builder,
          host.sandbox.works ? undefined : `templates are only built in a sandbox, and ${host.sandbox.because}`,
          ...needed.flat().map((name) => `the program ${name} is not installed`),
          address === undefined ? `this host has no address that machines in ${natNetwork.text} can reach` : undefined,
        ].filter((fact) => fact !== undefined),
        lacks: [
          ...(discs.some((path) => path !== undefined)
            ? []
            : ["templates with files on a disc (cd_files), such as those of Windows, need xorriso"]),
          ...(ansible === undefined ? ["templates that use Ansible need ansible-playbook"] : []),
          ...pluginLacks(plugins),
        ],
      }
    })
  })

const hint =
  "Install Packer 1.6.6 or later (Debian: packer; newer ones need the plugin proxmox in packer_plugins), bubblewrap, iproute2 and python3, and give this host an address that machines in the NAT network can reach (packer_address)."

export const availabilityOf = ({ version, because }: Found): BuilderAvailability =>
  because.length === 0 && version !== undefined ? { available: true, version } : { available: false, because, hint }

/** One finding for the operator. */
export interface BuilderFinding {
  readonly level: "ok" | "warn"
  readonly what: string
  readonly detail: string
  readonly hint?: string
}

/** The findings for people. */
export const builderFindings = (options: LocalOptions): Effect.Effect<readonly BuilderFinding[]> =>
  Effect.map(lookAround(settingsOf(options)), (found) => [
    found.because.length > 0
      ? { level: "warn", what: "Packer", detail: `templates cannot be built: ${found.because.join("; ")}`, hint }
      : {
          level: "ok",
          what: "Packer",
          detail: `Packer ${found.version}${isBefore(found.version ?? "", lastFree) ? "" : ", whose licence (BUSL) has conditions"}`,
        },
    ...(found.address === undefined
      ? []
      : [
          {
            level: "ok",
            what: "build network",
            detail: `machines fetch their answers from ${found.address}, ports ${answerPorts.first} to ${answerPorts.last}`,
          } as const,
        ]),
    ...found.lacks.map((detail): BuilderFinding => ({ level: "warn", what: "Packer", detail, hint: "Install it." })),
  ])
