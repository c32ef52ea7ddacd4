import { noVpnLayer } from "@rangewright/adapter-memory"
import { sshShell } from "@rangewright/adapter-proxmox"
import { localShell, wireguardServer, type WireguardOptions } from "@rangewright/adapter-wireguard"
import { type ShellCommand, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Config } from "../config/config.ts"
import { readNamedFile } from "./named-file.ts"

/** Programs that need root. */
const privileged: ReadonlySet<string> = new Set(["nft", "wg"])

const asRoot = (command: ShellCommand): ShellCommand =>
  privileged.has(command.program) ? { ...command, program: "sudo", args: ["-n", command.program, ...command.args] } : command

const overSsh = (config: Config, key: string) =>
  Effect.gen(function* () {
    const { wireguardSshHost: host = "", wireguardSshUser: username, wireguardSshFingerprint: hostKey = "" } = config
    const privateKey = Redacted.make(key)
    const nodes = { [host]: { host, port: config.wireguardSshPort, hostKey } }
    const { run } = yield* sshShell({ username, auth: { privateKey }, nodes })
    const shell: WireguardOptions["shell"] = (command) => run(host, username === "root" ? command : asRoot(command))
    return wireguardServer({ interface: config.wireguardInterface, shell })
  })

/** The configured VPN server. */
export const bindVpn = (config: Config): Layer.Layer<VpnServer> => {
  switch (config.wireguardServer) {
    case "none":
      return noVpnLayer("Set wireguard_server.")
    case "local":
      return Layer.sync(VpnServer, () => wireguardServer({ interface: config.wireguardInterface, shell: localShell }))
    case "ssh":
      return Layer.effect(VpnServer, overSsh(config, readNamedFile("wireguard_ssh_key_file", config.wireguardSshKeyFile ?? "")))
  }
}
