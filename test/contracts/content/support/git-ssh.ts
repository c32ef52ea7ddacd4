import { spawn } from "node:child_process"
import { createHash, generateKeyPairSync } from "node:crypto"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import ssh2 from "ssh2"

export interface KeyPair {
  /** PEM, as ssh takes it. */
  readonly privateKey: string
  /** The key as it goes over the wire. */
  readonly publicBlob: Buffer
}

export const makeKeys = (): KeyPair => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const pem = privateKey.export({ type: "sec1", format: "pem" }).toString()
  const parsed = ssh2.utils.parseKey(pem)
  if (parsed instanceof Error) throw parsed
  return { privateKey: pem, publicBlob: parsed.getPublicSSH() }
}

export interface GitSsh {
  readonly port: number
  /** `SHA256:…` of the host key. */
  readonly hostKey: string
  /** The requested commands. */
  readonly commands: string[]
  readonly close: () => Promise<void>
}

const fingerprint = (blob: Buffer): string => `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/u, "")}`

/** An SSH server on the loopback address that lets one key run git-upload-pack below `root`. */
export const gitSsh = async (root: string, client: KeyPair): Promise<GitSsh> => {
  const host = makeKeys()
  const commands: string[] = []
  const allowed = client.publicBlob
  const server = new ssh2.Server({ hostKeys: [host.privateKey] }, (connection) => {
    connection.on("error", () => {})
    connection.on("authentication", (context) => {
      if (context.method !== "publickey" || !context.key.data.equals(allowed)) return context.reject(["publickey"])
      context.accept()
    })
    connection.on("session", (accept) =>
      accept()
        .on("env", (acceptEnv) => acceptEnv?.())
        .on("exec", (acceptExec, _reject, { command }) => {
          commands.push(command)
          const channel = acceptExec()
          const path = /^git-upload-pack '(?<path>[^']+)'$/u.exec(command)?.groups?.["path"] ?? ""
          const git = spawn("git", ["upload-pack", join(root, path)], { env: { PATH: process.env["PATH"] } })
          channel.pipe(git.stdin).on("error", () => {})
          git.stdout.pipe(channel, { end: false })
          git.stderr.pipe(channel.stderr)
          git.on("close", (code) => {
            channel.exit(code ?? 1)
            channel.end()
          })
        }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  return {
    port: (server.address() as AddressInfo).port,
    hostKey: fingerprint(host.publicBlob),
    commands,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
