import { sshNodePackages, sshShell } from "@rangewright/adapter-proxmox"
import { packageFolderLayer } from "@rangewright/adapter-subscription"
import { NodePackages, PackageFolder, PackagesFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Config } from "../config/config.ts"
import { packagesOf } from "../config/node-packages.ts"
import { readNamedFile } from "./named-file.ts"

const none = Effect.fail(
  new PackagesFault({ doing: "manage the packages of nodes", reason: "refused", detail: "nothing is configured for it" }),
)

const nothing = Layer.merge(
  Layer.succeed(NodePackages, { nodes: [], observe: () => none, install: () => none, restore: () => none }),
  Layer.succeed(PackageFolder, { manifest: none, file: () => none }),
)

/** The configured nodes' packages, and the folder of patched ones. */
export const bindNodePackages = (config: Config): Layer.Layer<NodePackages | PackageFolder> => {
  const settings = packagesOf(config)
  if (settings === undefined) return nothing
  const { folder, keys, nodes, keyFile } = settings
  const overSsh = Effect.gen(function* () {
    const privateKey = Redacted.make(readNamedFile("node_packages_ssh_key_file", keyFile))
    const shell = yield* sshShell({ username: "root", auth: { privateKey }, nodes })
    return sshNodePackages(Object.keys(nodes), shell)
  })
  return Layer.merge(Layer.effect(NodePackages, overSsh), packageFolderLayer({ folder, keys }))
}
