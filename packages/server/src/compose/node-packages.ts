import { noPackagesLayer } from "@rangewright/adapter-memory"
import { sshNodePackages, sshShell } from "@rangewright/adapter-proxmox"
import { packageFolderLayer } from "@rangewright/adapter-subscription"
import { NodePackages, type PackageFolder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Config } from "../config/config.ts"
import { packagesOf } from "../config/node-packages.ts"
import { readNamedFile } from "./named-file.ts"

/** The configured nodes' packages, and the folder of patched ones. */
export const bindNodePackages = (config: Config): Layer.Layer<NodePackages | PackageFolder> => {
  const settings = packagesOf(config)
  if (settings === undefined) return noPackagesLayer
  const { folder, keys, nodes, keyFile } = settings
  const overSsh = Effect.gen(function* () {
    const privateKey = Redacted.make(readNamedFile("node_packages_ssh_key_file", keyFile))
    const shell = yield* sshShell({ username: "root", auth: { privateKey }, nodes })
    return sshNodePackages(Object.keys(nodes), shell)
  })
  return Layer.merge(Layer.effect(NodePackages, overSsh), packageFolderLayer({ folder, keys }))
}
