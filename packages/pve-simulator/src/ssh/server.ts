import { timingSafeEqual } from "node:crypto"
import type { AddressInfo } from "node:net"
import ssh2 from "ssh2"
import type { NodeState } from "../core/state.ts"
import type { Api } from "../http/handle.ts"
import { runNodeCommand } from "./commands.ts"
import type { CommandResult } from "./network-commands.ts"
import { makeHostKey } from "./host-key.ts"
import { splitWords } from "./words.ts"

/** A node's SSH server that is listening. */
export interface SshListener {
  readonly host: string
  readonly port: number
  /** `SHA256:…` of the host key. */
  readonly hostKey: string
  readonly close: () => Promise<void>
}

/** Where the server listens, for which node, and who may log in. */
export interface SshOptions {
  readonly host?: string
  /** 0 (default): any free port. */
  readonly port?: number
  /** The node whose shell this is. Default: the first. */
  readonly node?: string
  /** Public keys (OpenSSH format) that may log in as root, in addition to the password. */
  readonly authorizedKeys?: readonly string[]
}

const MAX_LINE = 64 * 1024
const MAX_INPUT = 1024 * 1024

const sameText = (a: string, b: string): boolean => {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}

const publicKeys = (texts: readonly string[]): ssh2.ParsedKey[] =>
  texts.flatMap((text) => {
    const parsed = ssh2.utils.parseKey(text)
    if (parsed instanceof Error) throw new Error(`not a public key in OpenSSH form: ${text.slice(0, 40)}`)
    return Array.isArray(parsed) ? parsed : [parsed]
  })

const authenticate = (context: ssh2.AuthContext, password: string, keys: readonly ssh2.ParsedKey[]): void => {
  if (context.username !== "root") return context.reject(["password", "publickey"])
  if (context.method === "password" && sameText(context.password, password)) return context.accept()
  if (context.method === "publickey") {
    const { key, signature, blob, hashAlgo } = context
    const known = keys.find((each) => each.type === key.algo && each.getPublicSSH().equals(key.data))
    const signed = signature === undefined || blob === undefined || known?.verify(blob, signature, hashAlgo) === true
    if (known !== undefined && signed) return context.accept()
  }
  context.reject(["password", "publickey"])
}

/** Commands that read their standard input; the others do not wait for its end. */
const readers: ReadonlySet<string> = new Set(["dd"])

const execute = async (api: Api, node: NodeState, line: string, channel: ssh2.ServerChannel): Promise<CommandResult> => {
  const words = line.length > MAX_LINE ? undefined : splitWords(line)
  if (words === undefined || words.length === 0)
    return { exitCode: 127, stdout: "", stderr: "this shell runs one plain command at a time\n" }
  try {
    return await runNodeCommand(api, node, words, readers.has(words[0]!) ? await inputOf(channel) : "")
  } catch (error) {
    return { exitCode: 255, stdout: "", stderr: `${error instanceof Error ? error.message : "failed"}\n` }
  }
}

/** Reads a command's input to its end; drops what exceeds the limit. */
const inputOf = async (channel: ssh2.ServerChannel): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of channel.stdin as AsyncIterable<Buffer>) {
    if (size < MAX_INPUT) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).subarray(0, MAX_INPUT).toString()
}

/** Serves a node's shell over SSH to root, by password or key. It runs single commands; there is no terminal. */
export const listenSsh = async (api: Api, rootPassword: string, options: SshOptions = {}): Promise<SshListener> => {
  const nodes = api.world.state.nodes
  const name = options.node ?? [...nodes.keys()][0] ?? ""
  if (!nodes.has(name)) throw new Error(`there is no node '${name}'`)
  const host = options.host ?? "127.0.0.1"
  const hostKey = makeHostKey()
  const keys = publicKeys(options.authorizedKeys ?? [])
  const open = new Set<ssh2.Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKey.privateKey] }, (connection) => {
    open.add(connection)
    connection.on("error", () => connection.end())
    connection.on("close", () => void open.delete(connection))
    connection.on("authentication", (context) => authenticate(context, rootPassword, keys))
    connection.on("session", (accept) => {
      accept().on("exec", (acceptExec, rejectExec, info) => {
        const node = api.world.state.nodes.get(name)
        if (node === undefined) return rejectExec()
        const channel = acceptExec()
        void execute(api, node, info.command, channel).then((result) => {
          channel.write(result.stdout)
          channel.stderr.write(result.stderr)
          channel.exit(result.exitCode)
          channel.end()
        })
      })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject)
    server.listen(options.port ?? 0, host, () => resolve())
  })
  const { port } = server.address() as AddressInfo
  return {
    host,
    port,
    hostKey: hostKey.fingerprint,
    close: () =>
      new Promise<void>((resolve) => {
        for (const connection of open) connection.end()
        server.close(() => resolve())
      }),
  }
}
