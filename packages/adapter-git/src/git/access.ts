import type { GitAccess } from "@rangewright/ports"
import { gitReachCommand, type NamedServer, reachCommand, type ToolHost } from "@rangewright/host-tools"
import * as Redacted from "effect/Redacted"
import { mkdtemp, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Doing, refused } from "../faults.ts"
import type { Destination } from "../network/destination.ts"
import type { Settings } from "../options.ts"

/** Where git runs for a repository, and with which settings. */
export interface GitPlace {
  readonly settings: Settings
  readonly host: ToolHost
  /** Scratch folder for this work only. */
  readonly scratch: string
}

/** What a run of git needs to connect to one destination: settings and paths, never a secret. */
export interface Connection {
  readonly remote: string
  readonly config: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Files and folders that it reads. */
  readonly mounts: readonly string[]
  /** Servers it may connect to. */
  readonly servers: readonly NamedServer[]
}

/** The remote by its name, and by each of its checked addresses: no others may be connected to. */
const serversOf = ({ url, addresses }: Destination): readonly NamedServer[] => {
  const port = Number(url.port)
  const host = url.host.replace(/^\[|\]$/gu, "").toLowerCase()
  return [{ host, port, addresses }, ...addresses.map((address) => ({ host: address, port, addresses: [address] }))]
}

/** git prompts with "Username for …" or "Password for …"; the answers are in files beside the script. */
const askpass = '#!/bin/sh\ncase $1 in Username*) cat "${0%/*}/username" ;; *) cat "${0%/*}/password" ;; esac\n'

/** Called by ssh with the fingerprint, host, type and key from the server: the key is known if its fingerprint is the pinned one. */
const knownHosts = (fingerprint: string): string => `if [ "$1" = '${fingerprint}' ]; then echo "$2 $3 $4"; fi\n`

const fingerprintForm = /^SHA256:[A-Za-z0-9+/]{43}$/u

const ownFile = { mode: 0o600, flag: "wx" } as const
const quoted = (path: string): string => `"${path.replaceAll("%", "%%")}"`

const sshConfig = (folder: string, destination: Destination, proxy: string): string =>
  [
    "Host *",
    // the checked address, whatever the name resolves to by now
    `HostName ${destination.addresses.find((address) => !address.includes(":")) ?? destination.addresses[0]}`,
    `HostKeyAlias ${destination.url.host}`,
    `Port ${destination.url.port}`,
    ...(destination.url.user === undefined ? ["User git"] : []),
    `IdentityFile ${quoted(join(folder, "key"))}`,
    "IdentitiesOnly yes",
    "IdentityAgent none",
    "PreferredAuthentications publickey",
    "BatchMode yes",
    "StrictHostKeyChecking yes",
    "UserKnownHostsFile /dev/null",
    "GlobalKnownHostsFile /dev/null",
    `KnownHostsCommand /bin/sh ${quoted(join(folder, "known-hosts"))} %f %H %t %K`,
    "CheckHostIP no",
    "UpdateHostKeys no",
    proxy,
    "ForwardAgent no",
    "ConnectTimeout 20",
    "ServerAliveInterval 10",
    "ServerAliveCountMax 3",
    "",
  ].join("\n")

/** When git runs behind a relay, the relay passes the connections to SSH. */
const proxyOf = ({ host }: GitPlace): string =>
  host.sandbox.works ? `ProxyUseFdpass yes\nProxyCommand ${reachCommand("%h", "%p", "pass")}` : "ProxyCommand none"

const overSsh = async (
  doing: Doing,
  place: GitPlace,
  destination: Destination,
  access: GitAccess | undefined,
): Promise<Connection> => {
  if (access?.type !== "ssh-key") throw refused(doing, "access", "ssh needs a key and the fingerprint of the server's host key")
  if (!fingerprintForm.test(access.hostKey))
    throw refused(doing, "access", "the fingerprint of a host key looks like SHA256: and 43 characters")
  const folder = await mkdtemp(join(place.scratch, "ssh-"))
  const key = Redacted.value(access.privateKey)
  await writeFile(join(folder, "key"), key.endsWith("\n") ? key : `${key}\n`, ownFile)
  await writeFile(join(folder, "known-hosts"), knownHosts(access.hostKey), ownFile)
  await writeFile(join(folder, "config"), sshConfig(folder, destination, proxyOf(place)), ownFile)
  const config = `'${join(folder, "config").replaceAll("'", `'\\''`)}'`
  const env = { GIT_ALLOW_PROTOCOL: "ssh", GIT_SSH_COMMAND: `ssh -F ${config}` }
  return { remote: destination.url.remote, config: [], env, mounts: [folder], servers: serversOf(destination) }
}

const overHttp = async (
  doing: Doing,
  { scratch, settings: { caFile } }: GitPlace,
  destination: Destination,
  access: GitAccess | undefined,
): Promise<Connection> => {
  const { url, addresses } = destination
  const seen = caFile === undefined ? [] : [caFile]
  const servers = serversOf(destination)
  const at = addresses.map((address) => (address.includes(":") ? `[${address}]` : address)).join(",")
  const config = [
    ...(url.host.startsWith("[") ? [] : [`http.curloptResolve=${url.host}:${url.port}:${at}`]),
    ...(caFile === undefined ? [] : [`http.sslCAInfo=${caFile}`]),
  ]
  const env = { GIT_ALLOW_PROTOCOL: url.scheme }
  if (access === undefined) return { remote: url.remote, config, env, mounts: seen, servers }
  if (access.type !== "token") throw refused(doing, "access", "an SSH key cannot be used with https")
  const [username, password] = [access.username ?? "git", Redacted.value(access.token)]
  if (/[\r\n\0]/u.test(username + password)) throw refused(doing, "access", "the token or its login has more than one line")
  const folder = await mkdtemp(join(scratch, "token-"))
  await writeFile(join(folder, "username"), username, ownFile)
  await writeFile(join(folder, "password"), password, ownFile)
  await writeFile(join(folder, "askpass"), askpass, { mode: 0o700, flag: "wx" })
  const asking = { ...env, GIT_ASKPASS: join(folder, "askpass") }
  return { remote: url.remote, config, env: asking, mounts: [...seen, folder], servers }
}

/**
 * Prepares access to a checked destination, pinned to its checked addresses. Secrets are written to files in the scratch folder that only
 * this user may read; the owner of the folder removes them.
 */
export const connectionTo = async (
  doing: Doing,
  place: GitPlace,
  destination: Destination,
  access: GitAccess | undefined,
): Promise<Connection> => {
  const { url, addresses } = destination
  switch (url.scheme) {
    case "ssh":
      return overSsh(doing, place, destination, access)
    case "https":
    case "http":
      return overHttp(doing, place, destination, access)
    case "git": {
      const [address = ""] = addresses
      const host = address.includes(":") ? `[${address}]` : address
      return {
        remote: `git://${host}:${url.port}${url.path}`,
        config: place.host.sandbox.works ? [`core.gitProxy=${gitReachCommand}`] : [],
        env: { GIT_ALLOW_PROTOCOL: "git" },
        mounts: [],
        servers: serversOf(destination),
      }
    }
    case "file":
      return { remote: url.remote, config: [], env: { GIT_ALLOW_PROTOCOL: "file" }, mounts: [url.path], servers: [] }
  }
}
