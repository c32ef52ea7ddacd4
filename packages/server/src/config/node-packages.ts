import { parsePublicKey, type PublicKey } from "@rangewright/adapter-subscription"
import type { SshNode } from "@rangewright/adapter-proxmox"
import { isAbsolute } from "node:path"
import type { Keys } from "./keys.ts"

/** The configuration keys for the nodes' packages. */
export type PackagesConfig = { readonly [K in keyof Keys & `nodePackages${string}`]: Keys[K]["fallback"] }

/** The settings derived from them when all are present. */
export interface PackagesSettings {
  readonly folder: string
  readonly keys: readonly PublicKey[]
  /** By node name, in the order in which nodes are changed. */
  readonly nodes: Readonly<Record<string, SshNode>>
  readonly keyFile: string
}

const nodeForm =
  /^(?<name>[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)=(?:\[(?<v6>[0-9A-Fa-f:.]+)\]|(?<host>[A-Za-z0-9][A-Za-z0-9.-]{0,252}))(?::(?<port>\d{1,5}))? (?<key>SHA256:[A-Za-z0-9+/]{43})$/u

const readNode = (text: string): { readonly name: string; readonly node: SshNode } | undefined => {
  const { name, v6, host, port, key } = nodeForm.exec(text.trim())?.groups ?? {}
  const at = v6 ?? host
  if (name === undefined || at === undefined || key === undefined) return undefined
  return { name, node: { host: at, hostKey: key, port: port === undefined ? undefined : Number(port) } }
}

/** What is wrong with these keys, one line each. */
export const packagesProblems = (config: PackagesConfig): readonly string[] => {
  const { nodePackagesFolder: folder, nodePackagesKeys: keys, nodePackagesNodes: nodes, nodePackagesSshKeyFile: file } = config
  const given = [folder !== undefined, keys.length > 0, nodes.length > 0, file !== undefined]
  const names = nodes.map((text) => readNode(text)?.name)
  return [
    ...(given.every(Boolean) || !given.some(Boolean)
      ? []
      : [
          "node_packages_folder, node_packages_keys, node_packages_nodes and node_packages_ssh_key_file: set all of them or none",
        ]),
    ...(folder === undefined || isAbsolute(folder) ? [] : [`node_packages_folder: ${folder} is not an absolute path`]),
    ...keys.flatMap((text, n) =>
      parsePublicKey(text) === undefined ? [`node_packages_keys: key ${n + 1} is not ed25519: and 32 bytes as base64`] : [],
    ),
    ...nodes.flatMap((text, n) =>
      names[n] === undefined ? [`node_packages_nodes: write NODE=HOST SHA256:… instead of ${text.slice(0, 100)}`] : [],
    ),
    ...(new Set(names).size === names.length ? [] : ["node_packages_nodes: names a node twice"]),
  ]
}

/** Undefined when the service does not manage packages of nodes. */
export const packagesOf = (config: PackagesConfig): PackagesSettings | undefined => {
  const { nodePackagesFolder: folder, nodePackagesSshKeyFile: keyFile } = config
  if (folder === undefined || keyFile === undefined) return undefined
  return {
    folder,
    keyFile,
    keys: config.nodePackagesKeys.flatMap((text) => parsePublicKey(text) ?? []),
    nodes: Object.fromEntries(
      config.nodePackagesNodes.flatMap((text) => readNode(text) ?? []).map(({ name, node }) => [name, node]),
    ),
  }
}
