import { execFileSync, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import ssh2 from "ssh2"

export interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

export const makeKeys = (root: string): KeyPair => {
  const file = join(mkdtempSync(join(root, "key-")), "key")
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", file])
  return { privateKey: readFileSync(file, "utf8"), publicKey: readFileSync(`${file}.pub`, "utf8") }
}

export interface GitSsh {
  readonly port: number
  /** `SHA256:…` of the host key. */
  readonly hostKey: string
  /** The commands that were asked for. */
  readonly commands: string[]
  readonly close: () => Promise<void>
}

const fingerprint = (blob: Buffer): string => `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/u, "")}`

const publicBlob = (keys: KeyPair): Buffer => Buffer.from(keys.publicKey.split(" ")[1] ?? "", "base64")

/** An SSH server on the loopback address that lets one key run git-upload-pack below `root`. */
export const gitSsh = async (root: string, client: KeyPair): Promise<GitSsh> => {
  const host = makeKeys(root)
  const commands: string[] = []
  const allowed = publicBlob(client)
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
    hostKey: fingerprint(publicBlob(host)),
    commands,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
