import { type RangeHost, wanAddress } from "@rangewright/domain"
import {
  type Command,
  type Dial,
  openToolHost,
  prepareRun,
  reachCommand,
  runCommand,
  type ToolHost,
  whyItEnded,
} from "@rangewright/host-tools"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as RcMap from "effect/RcMap"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { spawn } from "node:child_process"
import { Duplex } from "node:stream"
import { loginOf } from "./connection.ts"
import type { AutomationFinding } from "./availability.ts"
import { type JumpHost, type PlaybookOptions, type Settings, settingsOf } from "./options.ts"
import { environmentOf, type Folders, scratchFolder } from "./scratch.ts"
import type { Site } from "./site.ts"

/** The range's router as jump host between the service and the range's machines. */
const throughRouter = (settings: Pick<Settings, "logins">, { hosts, range }: Site): JumpHost | undefined => {
  const router = hosts.find(({ seen }) => seen.isRouter)
  const login = router === undefined ? undefined : loginOf(settings, router)
  return login === undefined
    ? undefined
    : { host: wanAddress(range.number), user: login.user, login: { type: "password", password: Redacted.make(login.password) } }
}

/** The host through which a run's machines are reached; undefined when they are reached directly. */
export const jumpHostOf = (settings: Pick<Settings, "logins" | "route">, site: Site): JumpHost | undefined => {
  switch (settings.route.type) {
    case "direct":
      return undefined
    case "jump": {
      const { type: _, ...jump } = settings.route
      return jump
    }
    case "router":
      return throughRouter(settings, site)
  }
}

/** Whether the host is reached without the jump host, as is a range's router that is the way to the others. */
export const isReachedDirectly = ({ route }: Pick<Settings, "route">, { seen }: RangeHost): boolean =>
  route.type === "direct" || (route.type === "router" && seen.isRouter)

/** The connection to the jump host could not be opened. */
export class NoWay extends Data.TaggedError("NoWay")<{ readonly detail: string }> {}

/** An open connection to a jump host. */
export interface Way {
  /** Connects to an address and port behind the jump host. */
  readonly dial: Dial
  /** Completes when the connection ends, for whatever reason. */
  readonly ended: Effect.Effect<unknown>
}

/** A name that never resolves: SSH talks to the control socket and needs no host; without the socket it connects to nothing. */
const nobody = "jump.invalid"
const [socket, opened, secondsToOpen] = ["way", "the way is open", 30]

const loginArguments = ({ login }: JumpHost): readonly string[] =>
  login.type === "key"
    ? ["-i", login.file, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
    : ["-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1"]

const toolOf = (jump: JumpHost): readonly string[] => {
  const options = {
    HostKeyAlias: nobody,
    UserKnownHostsFile: "known_hosts",
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: jump.hostKey === undefined ? "no" : "yes",
    IdentityAgent: "none",
    ConnectTimeout: "20",
    ServerAliveInterval: "5",
    ServerAliveCountMax: "3",
    LogLevel: "ERROR",
    PermitLocalCommand: "yes",
    LocalCommand: `echo ${opened}`,
    ProxyCommand: reachCommand("%h", "%p"),
  }
  return [
    ...(jump.login.type === "password" ? ["sshpass", "-f", "password"] : []),
    "ssh",
    ..."-F /dev/null -N -T -x -a -M -S".split(" "),
    socket,
    ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`]),
    ...loginArguments(jump),
    "-p",
    String(jump.port ?? 22),
    "-l",
    jump.user,
    "--",
    jump.host,
  ]
}

/** Connects through the way whose control socket is in this folder. The program only talks to that socket. */
export const dialOver =
  (folder: string): Dial =>
  (address, port) => {
    const to = ["-W", `${address.includes(":") ? `[${address}]` : address}:${port}`, nobody]
    const args = ["-F", "/dev/null", "-S", socket, "-o", "ControlMaster=no", "-o", "BatchMode=yes", ...to]
    const child = spawn("ssh", args, { cwd: folder, env: environmentOf(folder), stdio: ["pipe", "pipe", "ignore"] })
    const connection = Duplex.from({ readable: child.stdout, writable: child.stdin })
    // attached before the caller listens: the folder disappears with the way, and then nothing can be started in it
    connection.on("error", () => connection.destroy())
    child.on("error", (error) => connection.destroy(error))
    connection.once("close", () => child.kill("SIGKILL"))
    return Promise.resolve(connection)
  }

/**
 * Opens a connection to a jump host. Its credentials are known only to this process and the connection, which can reach only the jump host.
 */
const openWay = (host: ToolHost, folders: Pick<Folders, "runs">, jump: JumpHost): Effect.Effect<Way, NoWay, Scope.Scope> =>
  Effect.gen(function* () {
    const name = `${jump.user}@${jump.host}:${jump.port ?? 22}`
    const noWay = (because: string) => new NoWay({ detail: `the jump host ${name} cannot be used: ${because}` })
    const folder = yield* scratchFolder(folders, {
      known_hosts: jump.hostKey === undefined ? "" : `${nobody} ${jump.hostKey}\n`,
      ...(jump.login.type === "password" ? { password: `${Redacted.value(jump.login.password)}\n` } : {}),
    }).pipe(Effect.mapError(({ message }) => noWay(message)))
    const { confine, limits } = yield* prepareRun(host, {
      folder,
      mounts: jump.login.type === "key" ? [{ from: jump.login.file }] : [],
      reach: { networks: [], servers: [{ host: jump.host.toLowerCase(), port: jump.port ?? 22 }], internet: false },
    }).pipe(Effect.mapError(({ message }) => noWay(message)))
    const [program = "", ...args] = confine(toolOf(jump))
    const command: Command = { program, args, env: environmentOf(folder), folder, ...limits }
    const isOpen = yield* Deferred.make<void>()
    let said = ""
    const connection = yield* Effect.forkScoped(
      runCommand(command, 65_536, (stream, line) => {
        if (stream === "stdout" && line === opened) Deferred.doneUnsafe(isOpen, Effect.void)
        else said += `${line}\n`
      }),
    )
    const failed = Effect.flatMap(Fiber.join(connection), (end) => Effect.fail(noWay(whyItEnded("SSH", said, end))))
    yield* Effect.raceFirst(Deferred.await(isOpen), failed).pipe(
      Effect.timeoutOrElse({
        duration: secondsToOpen * 1000,
        orElse: () => Effect.fail(noWay(`it did not allow the login within ${secondsToOpen} s`)),
      }),
    )
    return { dial: dialOver(folder), ended: Fiber.await(connection) }
  })

/** Provides the way through a jump host for as long as the scope is open. */
export type LendWay = (jump: JumpHost) => Effect.Effect<Way, NoWay, Scope.Scope>

/** How long an unused way stays open: stages and roles follow each other. */
const idle = "30 seconds"

/**
 * Ways shared by all runs through the same host: one connection however many machines are worked on, so that the host's limit of concurrent
 * logins is not reached. One that has ended is reopened for the next run.
 */
export const sharedWays = (
  host: Effect.Effect<ToolHost>,
  folders: Pick<Folders, "runs">,
): Effect.Effect<LendWay, never, Scope.Scope> =>
  Effect.gen(function* () {
    const ways: RcMap.RcMap<JumpHost, Way, NoWay> = yield* RcMap.make({
      idleTimeToLive: idle,
      lookup: (jump: JumpHost) =>
        Effect.gen(function* () {
          const way = yield* openWay(yield* host, folders, jump)
          yield* Effect.forkScoped(Effect.andThen(way.ended, RcMap.invalidate(ways, jump)))
          return way
        }).pipe(Effect.tapError(() => RcMap.invalidate(ways, jump))),
    })
    return (jump) => RcMap.get(ways, jump)
  })

/** Checks whether the route's jump host answers; no findings when there is none. Takes as long as the host does to answer. */
export const jumpFindings = (options: PlaybookOptions): Effect.Effect<readonly AutomationFinding[]> => {
  const { route, tools } = settingsOf(options)
  if (route.type !== "jump") return Effect.succeed([])
  const look = Effect.gen(function* () {
    const runs = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "rangewright-jump-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
    )
    yield* openWay(yield* openToolHost(tools), { runs }, route)
  })
  return Effect.scoped(look).pipe(
    Effect.match({
      onSuccess: () => [{ level: "ok", what: "jump host", detail: `${route.user}@${route.host} allows the login` }],
      onFailure: ({ detail }) => [
        { level: "fail", what: "jump host", detail, hint: "No machine can be reached until it answers. See ansible_jump_host." },
      ],
    }),
  )
}
