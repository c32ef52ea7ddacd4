import { isVpnKey, type VpnEndpoint } from "@rangewright/domain"
import { isInterfaceName } from "@rangewright/adapter-wireguard"
import { isIP } from "node:net"
import type { Keys } from "./keys.ts"

/** The configuration keys for the VPN. */
export type VpnConfig = { readonly [K in keyof Keys & `wireguard${string}`]: Keys[K]["fallback"] }

const hostName = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,62})(?:\.[a-z0-9][a-z0-9-]{0,62})*$/iu

/** What is wrong with these keys, one line each. */
export const vpnProblems = (config: VpnConfig): readonly string[] => {
  const { wireguardEndpoint: host, wireguardPublicKey: key } = config
  const { wireguardServer: server, wireguardSshHost: sshHost, wireguardSshKeyFile: file, wireguardSshFingerprint: pin } = config
  if ((host === undefined) !== (key === undefined)) return ["wireguard_endpoint and wireguard_public_key: set both or neither"]
  return [
    ...(host === undefined || isIP(host) !== 0 || hostName.test(host)
      ? []
      : ["wireguard_endpoint: must be a host name or an address, without a port and without brackets"]),
    ...(key === undefined || isVpnKey(key)
      ? []
      : ["wireguard_public_key: must be 32 bytes in base64, as `wg show INTERFACE public-key` prints them"]),
    ...(server === "none" || host !== undefined ? [] : ["wireguard_endpoint: needed with wireguard_server"]),
    ...(server !== "ssh" || (sshHost !== undefined && file !== undefined && pin !== undefined)
      ? []
      : ["wireguard_ssh_host, wireguard_ssh_key_file and wireguard_ssh_fingerprint: needed with wireguard_server: ssh"]),
    ...(isInterfaceName(config.wireguardInterface)
      ? []
      : ["wireguard_interface: must be a name of at most 15 letters, digits, dots, dashes and underscores"]),
  ]
}

/** Where clients reach the VPN; undefined when there is none. */
export const vpnEndpointOf = (config: VpnConfig): VpnEndpoint | undefined => {
  const { wireguardEndpoint: host, wireguardPort: port, wireguardPublicKey: publicKey } = config
  return host === undefined || publicKey === undefined ? undefined : { host, port, publicKey }
}
