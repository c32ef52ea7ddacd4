import { rangeNetwork, vpnAddress, vpnServer } from "../network/addressing.ts"

/** The address of the VPN server and the key that identifies it, for clients. */
export interface VpnEndpoint {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly publicKey: string
}

/** Fits through a VXLAN network including the tunnel's overhead, so that a server behind one needs no fragmentation. */
const mtu = 1370

/** The configuration of a user's WireGuard client. It names each range once, ascending by number. */
export const vpnClientFile = (client: {
  readonly privateKey: string
  readonly userNumber: number
  readonly rangeNumbers: readonly number[]
  readonly server: VpnEndpoint
}): string => {
  const { host, port, publicKey } = client.server
  const numbers = [...new Set(client.rangeNumbers)].sort((a, b) => a - b)
  const allowed = [`${vpnServer}/32`, ...numbers.map((number) => rangeNetwork(number).text)]
  return `[Interface]
PrivateKey = ${client.privateKey}
Address = ${vpnAddress(client.userNumber)}/32
MTU = ${mtu}

[Peer]
PublicKey = ${publicKey}
Endpoint = ${host.includes(":") ? `[${host}]` : host}:${port}
AllowedIPs = ${allowed.join(",")}
PersistentKeepalive = 25
`
}
