import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { fileProblem } from "./file-problem.ts"
import { environmentName, type Key, readSecretFile } from "./key.ts"
import { rangeDefaultsProblems } from "./range-defaults.ts"
import { isGitScheme, isThisHost, parseNetwork, parseProxies, similar } from "@rangewright/domain"
import { isAbsolute } from "node:path"
import { keys, type Keys } from "./keys.ts"
import { packagesProblems } from "./node-packages.ts"
import { kmsProblems } from "./kms.ts"
import { oidcProblems } from "./oidc.ts"
import { vpnProblems } from "./vpn.ts"

/** The configuration in force. */
export type Config = { readonly [K in keyof Keys]: Keys[K]["fallback"] }

/** All problems of the configuration, one line each. */
export class ConfigurationError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((p) => `  - ${p}`).join("\n")}`)
    this.problems = problems
  }
}

export interface ConfigSources {
  /** Path of the YAML file; undefined when there is none. */
  readonly file: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
}

const readFile = (path: string): Readonly<Record<string, unknown>> => {
  let text: string
  try {
    text = readFileSync(path, "utf8")
  } catch (error) {
    throw new ConfigurationError([`${fileProblem(path, error)} (--config or RANGEWRIGHT_CONFIG names it)`])
  }
  let content: unknown
  try {
    content = parse(text, { maxAliasCount: 100 }) ?? {}
  } catch (error) {
    // a YAML error continues with an excerpt, which may contain a secret
    const [what = ""] = (error instanceof Error ? error.message : String(error)).split("\n")
    throw new ConfigurationError([`${path}: ${what.replace(/:$/u, "")}`])
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw new ConfigurationError([`${path}: must be a mapping of keys to values`])
  return content as Record<string, unknown>
}

const fileKey = (key: Key<unknown>): string => `${key.name}_file`

/** The names allowed in a configuration file. */
const knownNames: ReadonlySet<string> = new Set(
  Object.values(keys).flatMap((k: Key<unknown>) => (k.secret ? [k.name, fileKey(k)] : [k.name])),
)
const knownVariables: ReadonlySet<string> = new Set([
  ...[...knownNames].map((n) => `RANGEWRIGHT_${n.toUpperCase()}`),
  "RANGEWRIGHT_CONFIG",
])

/** Reads one key: the environment takes precedence over the file, then the default; a secret may also come from a file of its own. */
const readKey = (
  key: Key<unknown>,
  sources: ConfigSources,
  content: Readonly<Record<string, unknown>>,
  problems: string[],
): unknown => {
  const variable = environmentName(key)
  const given: readonly (readonly [string, unknown])[] = [
    [variable, sources.environment[variable]],
    ...(key.secret ? ([[`${variable}_FILE`, sources.environment[`${variable}_FILE`]]] as const) : []),
    [key.name, content[key.name]],
    ...(key.secret ? ([[fileKey(key), content[fileKey(key)]]] as const) : []),
  ]
  const found = given.find(([, value]) => value !== undefined && value !== null)
  if (found === undefined) return key.fallback
  const [from, value] = found
  const fromFile = key.secret && from.toLowerCase().endsWith("_file") ? readSecretFile(String(value)) : { value }
  const read = "problem" in fromFile ? fromFile : key.read(fromFile.value)
  if ("value" in read) return read.value
  problems.push(`${from}: ${read.problem}`)
  return key.fallback
}

/** As `ssh-keyscan` prints it after the host, without a comment. */
const publicKey = /^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}$/u

/** Rules between the jump host's keys. */
const jumpProblems = (config: Config): readonly string[] => {
  if (config.ansibleRoute !== "jump")
    return config.ansibleJumpHost === undefined ? [] : ["ansible_jump_host: only used with ansible_route: jump"]
  const needed = {
    ansible_jump_host: config.ansibleJumpHost,
    ansible_jump_user: config.ansibleJumpUser,
    ansible_jump_host_key: config.ansibleJumpHostKey,
  }
  const missing = Object.entries(needed).flatMap(([name, value]) =>
    value === undefined ? [`${name}: needed with ansible_route: jump`] : [],
  )
  const { ansibleJumpHostKey: hostKey, ansibleJumpKeyFile: file, ansibleJumpPassword: password } = config
  return [
    ...missing,
    ...(hostKey === undefined || publicKey.test(hostKey)
      ? []
      : ["ansible_jump_host_key: write its type and base64, such as `ssh-ed25519 AAAAC3…`"]),
    ...((file === undefined) === (password === undefined)
      ? ["ansible_jump_key_file and ansible_jump_password: set one of them"]
      : []),
    ...(file === undefined || isAbsolute(file) ? [] : [`ansible_jump_key_file: ${file} is not an absolute path`]),
  ]
}

/** What is wrong with the hypervisor's URL. */
const hypervisorUrlProblems = (url: string): readonly string[] => {
  const example = "such as https://pve1.example:8006"
  if (!URL.canParse(url) || !/^https?:/u.test(url)) return [`proxmox_url: ${url} is not a valid https URL, ${example}`]
  const { protocol, hostname, host } = new URL(url)
  // plain HTTP only for a simulator on this host: anywhere else the token would be sent unencrypted
  return protocol === "https:" || isThisHost(hostname)
    ? []
    : [`proxmox_url: ${url} would send the token unencrypted: write https://${host}`]
}

/** Rules between keys. */
const crossChecks = (config: Config): readonly string[] => {
  const problems: string[] = []
  if ((config.tlsCert === undefined) !== (config.tlsKey === undefined)) problems.push("tls_cert and tls_key: set both or neither")
  // a major version below 2 makes clients use other paths, which are not served
  if (!/^(?:[2-9]|[1-9]\d+)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/u.test(config.peerVersion))
    problems.push("peer_version: must be three numbers such as 2.3.0, the first of them 2 or more")
  if (config.vmidTo <= config.vmidFrom) problems.push("vmid_to: must be greater than vmid_from")
  if (config.adminPort !== undefined && config.adminPort === config.port) problems.push("admin_port: must differ from port")
  if (config.sshHost !== undefined && config.sshFingerprint === undefined)
    problems.push("ssh_fingerprint: needed with ssh_host, to verify the node's identity")
  if (config.sshHost !== undefined && config.proxmoxNode === undefined)
    problems.push("proxmox_node: needed with ssh_host, to say which node it is")
  if (config.sshHost !== undefined && config.sshKeyFile === undefined) problems.push("ssh_key_file: needed with ssh_host")
  if (config.hypervisor === "proxmox" && config.proxmoxUrl.length === 0)
    problems.push("proxmox_url: needed with hypervisor: proxmox")
  for (const url of config.proxmoxUrl) problems.push(...hypervisorUrlProblems(url))
  if (!config.proxmoxFingerprint.every((pin) => /^(?:[\da-f]{2}:?){32}$/iu.test(pin)))
    problems.push("proxmox_fingerprint: must be 32 bytes in hex, as `openssl x509 -fingerprint -sha256` prints them")
  if (config.proxmoxUrl.length > 0 && config.hypervisor !== "simulator") {
    if (config.proxmoxTokenId === undefined) problems.push("proxmox_token_id: needed with proxmox_url")
    else if (!/^[^\s!@]+@[^\s!@]+![^\s!@]+$/u.test(config.proxmoxTokenId))
      problems.push("proxmox_token_id: must have the form user@realm!name")
    if (config.proxmoxTokenSecret === undefined) problems.push("proxmox_token_secret: needed with proxmox_url")
  }
  for (const scheme of config.sourceSchemes)
    if (!isGitScheme(scheme)) problems.push(`source_schemes: ${scheme} is not one of https, ssh, http, git, file`)
  for (const [key, networks] of [
    ["source_networks", config.sourceNetworks],
    ["notification_networks", config.notificationNetworks],
  ] as const)
    for (const network of networks)
      if (parseNetwork(network) === undefined) problems.push(`${key}: ${network} is not a network such as 10.20.0.0/16`)
  for (const proxies of config.trustedProxies)
    if (parseProxies(proxies) === undefined)
      problems.push(`trusted_proxies: ${proxies} is not an address or network such as 10.0.5.0/24`)
  for (const folder of config.sourceFolders)
    if (!isAbsolute(folder)) problems.push(`source_folders: ${folder} is not an absolute path`)
  if (config.roleFolder !== undefined && !isAbsolute(config.roleFolder))
    problems.push(`role_folder: ${config.roleFolder} is not an absolute path`)
  if (!URL.canParse(config.galaxyUrl) || !/^https?:/u.test(config.galaxyUrl))
    problems.push(`galaxy_url: ${config.galaxyUrl} is not a valid URL`)
  if (config.subscriptionRegistry !== undefined && config.subscriptionFolder !== undefined)
    problems.push("subscription_registry and subscription_folder: set only one of them")
  if ((config.subscriptionRegistry ?? config.subscriptionFolder) !== undefined && config.subscriptionKeys.length === 0)
    problems.push("subscription_keys: needed with a registry, to verify its roles")
  if (config.licenseFile !== undefined && config.licenseKeys.length === 0) problems.push("license_keys: needed with license_file")
  problems.push(
    ...jumpProblems(config),
    ...rangeDefaultsProblems(config.rangeDefaults),
    ...vpnProblems(config),
    ...kmsProblems(config),
    ...packagesProblems(config),
    ...oidcProblems(config),
  )
  for (const n of config.reservedRangeNumbers)
    if (!/^\d{1,3}$/u.test(n) || Number(n) < 1 || Number(n) > 153)
      problems.push(`reserved_range_numbers: ${n} is not a range number (1 to 153)`)
  if (!/^(0|(\d+(\.\d+)?(h|m|s|ms))+)$/u.test(config.inactivityShutdown))
    problems.push("inactivity_shutdown_timeout: write a duration such as 4h or 1h30m, or 0")
  return problems
}

const meant = (typed: string, names: ReadonlySet<string>): string => {
  const near = similar(typed, [...names])
  return near === undefined ? "" : `; did you mean ${near}?`
}

/** Reads and checks the whole configuration; fails with all problems at once. Unknown names are errors. */
export const loadConfig = (sources: ConfigSources): Config => {
  const content = sources.file === undefined ? {} : readFile(sources.file)
  const problems = Object.keys(content)
    .filter((name) => !knownNames.has(name))
    .map((name) => `${name}: no such key${meant(name, knownNames)} (docs/configuration.md lists all)`)
  for (const variable of Object.keys(sources.environment))
    if (variable.startsWith("RANGEWRIGHT_") && !variable.startsWith("RANGEWRIGHT_TEST_") && !knownVariables.has(variable))
      problems.push(`${variable}: no such variable${meant(variable, knownVariables)} (docs/configuration.md lists all)`)
  const config = Object.fromEntries(
    Object.entries(keys).map(([field, key]: [string, Key<unknown>]) => [field, readKey(key, sources, content, problems)]),
  ) as unknown as Config
  if (problems.length === 0) problems.push(...crossChecks(config))
  if (problems.length > 0) throw new ConfigurationError(problems)
  return config
}

/** The configured kind of hypervisor. */
export const hypervisorKind = (config: Config): "simulator" | "proxmox" =>
  config.hypervisor === "auto" ? (config.proxmoxUrl.length > 0 ? "proxmox" : "simulator") : config.hypervisor
