import { InstallerFault, type LibraryScope } from "@rangewright/ports"
import { type ProcessEnd, prepareRun, runCommand, systemPath, type ToolHost, untilLarger } from "@rangewright/host-tools"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { mkdir, writeFile } from "node:fs/promises"
import { basename, dirname, isAbsolute, join } from "node:path"
import { asLibraryFault } from "../library/faults.ts"
import { kindFolders } from "../library/layout.ts"
import type { GalaxySettings } from "./galaxy-options.ts"

/** The tool installs into the global scope of a temporary library that lasts for one request. */
export const toolScope: LibraryScope = { type: "global" }

/** Built from scratch: nothing of the service's own environment or of a person's configuration reaches the tool. */
const environment = ({ server, token, program }: GalaxySettings, scratch: string): Readonly<Record<string, string>> => ({
  PATH: [...(isAbsolute(program) ? [dirname(program)] : []), systemPath].join(":"),
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  TERM: "dumb",
  NO_COLOR: "1",
  HOME: join(scratch, "home"),
  TMPDIR: join(scratch, "tmp"),
  ANSIBLE_HOME: join(scratch, "home", ".ansible"),
  ANSIBLE_CONFIG: join(scratch, "ansible.cfg"),
  ANSIBLE_NOCOLOR: "1",
  ANSIBLE_GALAXY_SERVER_LIST: "main",
  ANSIBLE_GALAXY_SERVER_MAIN_URL: server,
  ...(token === undefined ? {} : { ANSIBLE_GALAXY_SERVER_MAIN_TOKEN: Redacted.value(token) }),
  ANSIBLE_GALAXY_DISPLAY_PROGRESS: "0",
  ANSIBLE_DEPRECATION_WARNINGS: "0",
  ANSIBLE_COLLECTIONS_PATH: kindFolders(scratch, toolScope).collections,
  PYTHONUNBUFFERED: "1",
  // repositories are fetched elsewhere, with checks
  GIT_ALLOW_PROTOCOL: "none",
})

/** Host and port of the operator's Galaxy server, which may have a private address. */
const serverOf = ({ server }: GalaxySettings) => {
  const { hostname, port, protocol } = new URL(server)
  return { host: hostname.replace(/^\[|\]$/gu, ""), port: Number(port === "" ? (protocol === "http:" ? 80 : 443) : port) }
}

/** How and where the tool runs. */
export interface Workbench {
  readonly settings: GalaxySettings
  readonly host: ToolHost
  /** Folders it needs besides the system's own. */
  readonly folders: readonly string[]
}

export interface ToolRun {
  readonly doing: string
  readonly args: readonly string[]
  /** Used by this run alone. */
  readonly scratch: string
  readonly output: (text: string) => Effect.Effect<void>
}

export interface ToolEnd {
  readonly ok: boolean
  /** The last lines of both streams, in order for each. */
  readonly lines: readonly string[]
}

/** Lines kept for finding reasons: the tool prints four for each of up to 2,000 unavailable roles. */
const keptLines = 10_000

/**
 * Runs the tool, without a shell, in its own process group, which an interruption ends. Fails only when the tool cannot work: it is
 * missing, hangs, prints too much or fills the disk. Its exit status is part of the result.
 */
export const runTool = (
  { settings, host, folders }: Workbench,
  { doing, args, scratch, output }: ToolRun,
): Effect.Effect<ToolEnd, InstallerFault> =>
  Effect.gen(function* () {
    yield* Effect.tryPromise({ try: () => prepare(scratch), catch: (cause) => hostFault(doing, cause) })
    const secret = settings.token === undefined ? "" : Redacted.value(settings.token)
    const lines: string[] = []
    const heard = yield* Queue.unbounded<string, Cause.Done>()
    const onLine = (raw: string) => {
      const line = secret === "" ? raw : raw.replaceAll(secret, "***")
      lines.push(line)
      if (lines.length > keptLines) lines.shift()
      Queue.offerUnsafe(heard, `${line}\n`)
    }
    const { outputBytes, fileBytes, scratchBytes } = settings
    const { confine, limits } = yield* prepareRun(host, {
      folder: scratch,
      mounts: folders.map((from) => ({ from })),
      reach: { networks: [], servers: [serverOf(settings)], internet: true },
      onRefused: onLine,
    }).pipe(Effect.mapError((cause) => hostFault(doing, cause)))
    const [program = "", ...words] = confine([settings.program, ...args])
    const command = {
      program,
      args: words,
      env: environment(settings, scratch),
      folder: scratch,
      fileBytes,
      ...limits,
    }
    const tool: Effect.Effect<ProcessEnd | { readonly type: "overgrown" }> = Effect.raceFirst(
      runCommand(command, outputBytes, (_, line) => onLine(line)),
      Effect.as(untilLarger([scratch], scratchBytes), { type: "overgrown" } as const),
    )
    const bounded = tool.pipe(Effect.timeoutOption(Duration.seconds(settings.timeoutSeconds)), Effect.ensuring(Queue.end(heard)))
    const [ended] = yield* Effect.all([bounded, Stream.runForEach(Stream.fromQueue(heard), output)], { concurrency: 2 })
    return yield* toolEnd(settings, doing, Option.getOrUndefined(ended), lines)
  }).pipe(Effect.scoped)

const prepare = async (scratch: string): Promise<void> => {
  for (const folder of ["home", "tmp"]) await mkdir(join(scratch, folder), { recursive: true, mode: 0o700 })
  // an empty configuration prevents the tool from reading those of the host
  await writeFile(join(scratch, "ansible.cfg"), "", { mode: 0o600 })
}

/** The host could not prepare what the tool needs. */
export const hostFault = (doing: string, cause: unknown): InstallerFault =>
  new InstallerFault({ doing, reason: "failed", detail: asLibraryFault(doing)(cause).facts.detail })

const toolEnd = (
  { program: path, timeoutSeconds, outputBytes, scratchBytes }: GalaxySettings,
  doing: string,
  ended: ProcessEnd | { readonly type: "overgrown" } | undefined,
  lines: readonly string[],
): Effect.Effect<ToolEnd, InstallerFault> => {
  // the path is an internal detail of this host
  const program = basename(path)
  const fault = (reason: "missing" | "timeout" | "failed", detail: string, hint: string) =>
    Effect.fail(new InstallerFault({ doing, reason, detail, hint }))
  switch (ended?.type) {
    case undefined:
      return fault("timeout", `${program} did not end within ${timeoutSeconds} s`, "Check whether the role server answers.")
    case "not-started":
      return fault("missing", `${program} cannot be started`, "Install ansible-core 2.14 or later on the service's host.")
    case "flooded":
      return fault("failed", `${program} printed more than ${outputBytes} bytes`, "Install fewer at once.")
    case "overgrown":
      return fault(
        "failed",
        `what ${program} fetched takes more than ${scratchBytes} bytes on the disk`,
        "Install fewer at once, or ask their publisher.",
      )
    case "killed":
      return fault("failed", `${program} was killed by ${ended.signal}`, "Check the host's log; it may be out of memory.")
    case "exited":
      return Effect.succeed({ ok: ended.code === 0, lines })
  }
}
