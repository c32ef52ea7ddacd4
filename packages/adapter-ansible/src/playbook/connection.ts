import { type GuestLogin, guestLoginOf, type RangeHost } from "@rangewright/domain"
import type { Settings } from "./options.ts"

type Variables = Readonly<Record<string, string | number>>

/** Undefined where neither the options nor a known template tell one. */
export const loginOf = (settings: Pick<Settings, "logins">, host: RangeHost): GuestLogin | undefined =>
  host.osId === undefined ? undefined : (settings.logins.get(host.osId) ?? guestLoginOf(host.osId))

/** Machines come and go at one address, each with new keys: there is nothing that a host key could be compared with. */
const anyHostKey = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"

const loginVariables = (login: GuestLogin): Variables => ({
  ansible_user: login.user,
  ansible_password: login.password,
  ...(login.connection === "ssh" && login.user !== "root" ? { ansible_become_password: login.password } : {}),
})

const psrp: Variables = {
  ansible_connection: "psrp",
  ansible_port: 5986,
  ansible_psrp_protocol: "https",
  ansible_psrp_cert_validation: "ignore",
  ansible_psrp_operation_timeout: 240,
  ansible_psrp_read_timeout: 320,
}

/** How a host is reached that there is no way to from here. */
export interface Through {
  /** Further arguments of SSH. */
  readonly sshArguments: string
  /** By a machine's address, the port of loopback that leads to its WinRM. */
  readonly ports: ReadonlyMap<string, number>
  /** The address that the machine is about to get. */
  readonly nextAddress?: string | undefined
}

/** `ansible_host` stays the machine's own, which roles read (contract B 9.3). */
const windowsVariables = (protocol: Settings["windows"], host: RangeHost, through: Through | undefined): Variables => {
  const portAt = (address: string | undefined) => (address === undefined ? undefined : through?.ports.get(address))
  const [port, nextPort] = [portAt(host.address), portAt(through?.nextAddress)]
  const lent =
    port === undefined
      ? {}
      : {
          [`ansible_${protocol}_host`]: "127.0.0.1",
          [`ansible_${protocol}_port`]: port,
          ...(nextPort === undefined ? {} : { port_at_next_address: nextPort }),
        }
  return { ...(protocol === "psrp" ? psrp : {}), ...lent }
}

/**
 * What the tool must know to reach each host beyond what inventories show to people (contract B 9.3): a second inventory, which wins.
 * `throughTo` tells of hosts that are not reached directly.
 */
export const connections = (
  settings: Pick<Settings, "logins" | "windows">,
  hosts: readonly RangeHost[],
  throughTo: (host: RangeHost) => Through | undefined,
): string => {
  const variablesOf = (host: RangeHost): Variables => {
    const login = host.osId === undefined ? undefined : settings.logins.get(host.osId)
    const isSsh = loginOf(settings, host)?.connection === "ssh"
    const through = throughTo(host)
    const sshArguments = [anyHostKey, "-o LogLevel=ERROR", ...(through === undefined ? [] : [through.sshArguments])].join(" ")
    return {
      ...(login === undefined ? {} : loginVariables(login)),
      ...(isSsh ? { ansible_ssh_common_args: sshArguments } : windowsVariables(settings.windows, host, through)),
      ...(host.address === undefined ? {} : { ansible_host: host.address }),
    }
  }
  return JSON.stringify({ all: { hosts: Object.fromEntries(hosts.map((host) => [host.name, variablesOf(host)])) } })
}
