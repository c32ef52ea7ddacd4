import { type RangeHost, wanAddress } from "@rangewright/domain"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type ProcessEnd, runCommand } from "../tool/run-command.ts"
import { loginOf } from "./connection.ts"
import type { AutomationFinding } from "./availability.ts"
import { type JumpHost, type PlaybookOptions, type Settings, settingsOf } from "./options.ts"
import { type Folders, scratchFolder } from "./scratch.ts"
import type { Site } from "./site.ts"

/** The router of a range stands between the service and its machines. */
const throughRouter = (settings: Pick<Settings, "logins">, { hosts, range }: Site): JumpHost | undefined => {
  const router = hosts.find(({ seen }) => seen.isRouter)
  const login = router === undefined ? undefined : loginOf(settings, router)
  return login === undefined
    ? undefined
    : { host: wanAddress(range.number), user: login.user, login: { type: "password", password: Redacted.make(login.password) } }
}

/** The host that a run's machines are reached through; undefined where there is a way to them. */
export const jumpHostOf = (settings: Pick<Settings, "logins" | "route">, site: Site): JumpHost | undefined => {
  switch (settings.route.type) {
    case "direct":
      return undefined
    case "jump":
      return settings.route
    case "router":
      return throughRouter(settings, site)
  }
}

/** Whether the host itself is reached without it: the router of a range that is the way to the others. */
export const isReachedDirectly = ({ route }: Pick<Settings, "route">, { seen }: RangeHost): boolean =>
  route.type === "direct" || (route.type === "router" && seen.isRouter)

/** There is no connection to the host that machines are reached through. */
export class NoWay extends Data.TaggedError("NoWay")<{ readonly detail: string }> {}

/** Connects to a jump host for as long as the scope is open. */
export interface Way {
  /** What a sandbox must see of it: a socket, by which connections can be had, and no credential. */
  readonly folder: string
  /** Arguments of SSH for the machines behind it, where the working folder is another one beside this. */
  readonly arguments: string
}

/** Never resolves: who speaks to the socket needs no name, and without the socket nothing is spoken to. */
const nobody = "jump.invalid"
const [socket, opened, secondsToOpen] = ["way/jump", "the way is open", 30]

const loginArguments = ({ login }: JumpHost): readonly string[] =>
  login.type === "key"
    ? ["-i", login.file, "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"]
    : ["-o", "PubkeyAuthentication=no", "-o", "NumberOfPasswordPrompts=1"]

const commandOf = (launcher: readonly string[], jump: JumpHost, folder: string) => {
  const options = {
    HostKeyAlias: nobody,
    UserKnownHostsFile: "known_hosts",
    GlobalKnownHostsFile: "/dev/null",
    StrictHostKeyChecking: jump.hostKey === undefined ? "no" : "yes",
    IdentityAgent: "none",
    ConnectTimeout: "20",
    ServerAliveInterval: "15",
    ServerAliveCountMax: "4",
    LogLevel: "ERROR",
    PermitLocalCommand: "yes",
    LocalCommand: `echo ${opened}`,
  }
  const line = [
    ...launcher,
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
  const [program = "ssh", ...args] = line
  const env = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    LC_ALL: "C.UTF-8",
    HOME: join(folder, "home"),
  }
  return { program, args, env, folder }
}

const reasonOf = (said: string, end: ProcessEnd): string => {
  if (said.trim() !== "") return said.trim().slice(-500)
  if (end.type === "not-started") return end.because
  return end.type === "exited" ? `SSH ended with exit code ${end.code}` : "SSH was ended"
}

/**
 * Opens the way through a jump host. The credentials stay with this process and the connection, which runs outside every sandbox: whoever
 * has the way can reach machines through it while it is open, and cannot open it.
 */
export const openWay = (
  launcher: readonly string[],
  folders: Pick<Folders, "runs">,
  jump: JumpHost,
): Effect.Effect<Way, NoWay, Scope.Scope> =>
  Effect.gen(function* () {
    const name = `${jump.user}@${jump.host}:${jump.port ?? 22}`
    const noWay = (because: string) => new NoWay({ detail: `the jump host ${name} cannot be used: ${because}` })
    const folder = yield* scratchFolder(folders, {
      known_hosts: jump.hostKey === undefined ? "" : `${nobody} ${jump.hostKey}\n`,
      ...(jump.login.type === "password" ? { password: `${Redacted.value(jump.login.password)}\n` } : {}),
    }).pipe(Effect.mapError(({ message }) => noWay(message)))
    yield* Effect.promise(() => mkdir(join(folder, "way"), { mode: 0o700 }))
    const isOpen = yield* Deferred.make<void>()
    let said = ""
    const connection = yield* Effect.forkScoped(
      runCommand(commandOf(launcher, jump, folder), 65_536, (stream, line) => {
        if (stream === "stdout" && line === opened) Deferred.doneUnsafe(isOpen, Effect.void)
        else said += `${line}\n`
      }),
    )
    const failed = Effect.flatMap(Fiber.join(connection), (end) => Effect.fail(noWay(reasonOf(said, end))))
    yield* Effect.raceFirst(Deferred.await(isOpen), failed).pipe(
      Effect.timeoutOrElse({
        duration: secondsToOpen * 1000,
        orElse: () => Effect.fail(noWay(`it did not let in within ${secondsToOpen} s`)),
      }),
    )
    const path = join("..", basename(folder), socket)
    return {
      folder: join(folder, "way"),
      arguments: `-o ProxyCommand="ssh -F /dev/null -S ${path} -o ControlMaster=no -W %h:%p ${nobody}"`,
    }
  })

/** Whether the jump host of the route answers; nothing where there is none. Takes as long as it does to answer. */
export const jumpFindings = (options: PlaybookOptions): Effect.Effect<readonly AutomationFinding[]> => {
  const { route, launcher } = settingsOf(options)
  if (route.type !== "jump") return Effect.succeed([])
  const look = Effect.gen(function* () {
    const runs = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "rangewright-jump-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
    )
    yield* openWay(launcher, { runs }, route)
  })
  return Effect.scoped(look).pipe(
    Effect.match({
      onSuccess: () => [{ level: "ok", what: "jump host", detail: `${route.user}@${route.host} lets in` }],
      onFailure: ({ detail }) => [
        { level: "fail", what: "jump host", detail, hint: "No machine can be reached until it answers. See ansible_jump_host." },
      ],
    }),
  )
}
