import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../config/config.ts"
import { type Keys, keys } from "../config/keys.ts"

/** Configuration keys that name files and folders elsewhere. */
export const namesFiles = [
  "tlsCert",
  "tlsKey",
  "proxmoxCaFile",
  "sshKeyFile",
  "ansibleJumpKeyFile",
  "ansibleCollections",
  "packerPlugins",
  "sourceCaFile",
  "sourceFolders",
  "roleFolder",
  "subscriptionCaFile",
  "subscriptionFolder",
  "licenseFile",
  "nodePackagesFolder",
  "nodePackagesSshKeyFile",
  "wireguardSshKeyFile",
  "oidcCaFile",
] as const satisfies readonly (keyof Keys)[]

const filesOf = (config: Config): string => {
  const named = namesFiles.flatMap((key) => {
    const value = config[key]
    return value === undefined || value.length === 0 ? [] : [keys[key].name]
  })
  return named.length === 0 ? "" : `, and what it names (${named.join(", ")})`
}

const holdsAny = (folder: string, name: RegExp): boolean =>
  existsSync(folder) && readdirSync(folder).some((one) => name.test(one))

/** What an operator must keep by other means, one line each; `missing`: snapshots that the database names but that do not exist. */
export const leftOut = (config: Config, data: string, missing: readonly string[]): readonly string[] => [
  `the configuration, with the token of the hypervisor${filesOf(config)}`,
  ...(existsSync(join(data, "simulator.json")) ? [] : ["machines, templates and networks: they are on the hypervisor"]),
  ...(holdsAny(data, /^secret-key\.[^.]+$/u) ? ["former keys (secret-key.*), for backups from before rotate-key"] : []),
  ...(holdsAny(join(data, "playbook-runs", "workspaces"), /./u)
    ? ["what roles keep for themselves in playbook-runs/workspaces"]
    : []),
  ...(holdsAny(data, /^(?:set-aside-|before-)/u) ? ["what was set aside before (set-aside-*, before-*)"] : []),
  ...(missing.length === 0
    ? []
    : [`content that is not on this host (${missing.length} snapshots): sources are fetched again when they are used`]),
]
