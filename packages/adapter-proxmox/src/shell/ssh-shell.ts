import { createHash, timingSafeEqual } from "node:crypto"
import { type NodeShell, type ShellCommand, ShellFault, type ShellResult } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Client, ClientChannel } from "ssh2"

/** How a node is reached over SSH. */
export interface SshNode {
  readonly host: string
  readonly port?: number | undefined
  /** `SHA256:<base64>` of the host key, as ssh-keygen prints it. Accepting any key is not possible. */
  readonly hostKey: string
}

export interface SshOptions {
  readonly username: string
  /** A private key, or a password. */
  readonly auth: { readonly privateKey: Redacted.Redacted } | { readonly password: Redacted.Redacted }
  readonly nodes: Readonly<Record<string, SshNode>>
}

const maxOutput = 1024 * 1024
/** OpenSSH allows ten sessions per connection; two are left for people. */
const maxSessions = 8
const defaultTimeoutSeconds = 60

interface Connection {
  readonly client: Client
  readonly sessions: Semaphore.Semaphore
}

const fingerprintOf = (key: Buffer): string => `SHA256:${createHash("sha256").update(key).digest("base64").replace("=", "")}`

const same = (a: string, b: string): boolean => {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** Loaded when the first connection is made: most installations have no SSH access, and it is large. */
const loadSsh2 = Effect.promise(() => import("ssh2"))

const connect = (name: string, target: SshNode, options: SshOptions): Effect.Effect<Connection, ShellFault, Scope.Scope> => {
  const doing = `connect to node ${name} over SSH`
  const openWith = (client: Client) =>
    Effect.callback<Client, ShellFault>((resume) => {
      let seen = ""
      // ssh2 may emit "error" more than once; without a lasting listener, the second one would end the process
      client.on("error", (error) =>
        resume(
          Effect.fail(
            new ShellFault({
              doing,
              detail: seen !== "" && !same(seen, target.hostKey) ? `its host key is ${seen}, not the pinned one` : error.message,
            }),
          ),
        ),
      )
      client.once("ready", () => resume(Effect.succeed(client)))
      client.connect({
        host: target.host,
        port: target.port ?? 22,
        username: options.username,
        ...("privateKey" in options.auth
          ? { privateKey: Redacted.value(options.auth.privateKey) }
          : { password: Redacted.value(options.auth.password) }),
        readyTimeout: 10_000,
        keepaliveInterval: 10_000,
        keepaliveCountMax: 3,
        hostVerifier: (key: Buffer) => {
          seen = fingerprintOf(key)
          return same(seen, target.hostKey)
        },
      })
      // otherwise every command waits for a delayed acknowledgement
      client.setNoDelay(true)
      return Effect.sync(() => client.destroy())
    })
  const open = Effect.flatMap(loadSsh2, ({ default: ssh2 }) => openWith(new ssh2.Client()))
  return Effect.map(
    Effect.acquireRelease(open, (client) => Effect.sync(() => client.end())),
    (client) => ({ client, sessions: Semaphore.makeUnsafe(maxSessions) }),
  )
}

/** sshd passes the command to a shell, so each word is quoted to prevent splitting and expansion. */
const commandLine = (command: ShellCommand): string =>
  [command.program, ...command.args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ")

/** Keeps the first bytes and drops the rest, so that a flood costs no memory. */
const collector = () => {
  const chunks: Buffer[] = []
  let size = 0
  return {
    take: (chunk: Buffer) => {
      if (size < maxOutput) chunks.push(chunk.subarray(0, maxOutput - size))
      size += chunk.length
    },
    text: () => Buffer.concat(chunks).toString(),
  }
}

const runOn = (connection: Connection, node: string, command: ShellCommand): Effect.Effect<ShellResult, ShellFault> => {
  const doing = `run ${command.program} on node ${node}`
  return Effect.callback<ShellResult, ShellFault>((resume) => {
    const fail = (detail: string) => resume(Effect.fail(new ShellFault({ doing, detail })))
    const lost = () => fail("the connection was lost")
    let channel: ClientChannel | undefined
    connection.client.once("close", lost)
    const started: Parameters<Client["exec"]>[1] = (error, opened) => {
      if (error !== undefined) return fail(error.message)
      channel = opened
      const [out, errors] = [collector(), collector()]
      let exitCode = -1
      opened.on("data", out.take)
      opened.stderr.on("data", errors.take)
      opened.on("exit", (code: number | null) => {
        exitCode = code ?? -1
      })
      opened.on("close", () => {
        connection.client.off("close", lost)
        resume(Effect.succeed({ exitCode, stdout: out.text(), stderr: errors.text() }))
      })
      opened.end(command.input ?? "")
    }
    try {
      connection.client.exec(commandLine(command), started)
    } catch {
      // the other side closed it while it was idle
      lost()
    }
    return Effect.sync(() => {
      connection.client.off("close", lost)
      channel?.close()
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.seconds(command.timeoutSeconds ?? defaultTimeoutSeconds),
      orElse: () =>
        Effect.fail(
          new ShellFault({ doing, detail: `it did not end within ${command.timeoutSeconds ?? defaultTimeoutSeconds} s` }),
        ),
    }),
  )
}

/** Runs commands on nodes over SSH: one connection per node, kept for a minute of inactivity, with at most 8 commands at once. */
export const sshShell = Effect.fnUntraced(function* (
  options: SshOptions,
): Effect.fn.Return<Context.Service.Shape<typeof NodeShell>, never, Scope.Scope> {
  const connections = yield* RcMap.make({
    lookup: (node: string) => {
      const target = Object.hasOwn(options.nodes, node) ? options.nodes[node] : undefined
      if (target !== undefined) return connect(node, target, options)
      return Effect.fail(
        new ShellFault({ doing: `connect to node ${node} over SSH`, detail: "no SSH access to it is configured" }),
      )
    },
    idleTimeToLive: Duration.minutes(1),
  })
  return {
    available: true,
    reaches: (node) => Object.hasOwn(options.nodes, node),
    run: (node, command) =>
      Effect.scoped(
        Effect.flatMap(RcMap.get(connections, node), (connection) =>
          connection.sessions.withPermit(runOn(connection, node, command)),
        ),
      ).pipe(
        // a connection on which a command failed may be dead: the next command opens a new one
        Effect.tapError(() => RcMap.invalidate(connections, node)),
      ),
  }
})

/** Used when no shell access is configured: work that needs it is left out. */
export const noShell: Context.Service.Shape<typeof NodeShell> = {
  available: false,
  reaches: () => false,
  run: (node, command) =>
    Effect.fail(
      new ShellFault({ doing: `run ${command.program} on node ${node}`, detail: "no SSH access to the nodes is configured" }),
    ),
}
