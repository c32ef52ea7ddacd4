import { type GuestLogin, guestLoginOf, type RangeHost } from "@rangewright/domain"
import { reachCommand } from "@rangewright/host-tools"
import type { Settings } from "./options.ts"

type Variables = Readonly<Record<string, string | number>>

/** Undefined where neither the options nor a known template tell one. */
export const loginOf = (settings: Pick<Settings, "logins">, host: RangeHost): GuestLogin | undefined =>
  guestLoginOf(host, settings.logins)

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

/** How SSH connects from where tools run. The relay hands it the connection itself. */
const overRelay = `-o ProxyUseFdpass=yes -o ProxyCommand="${reachCommand("%h", "%p", "pass")}"`

const sshArguments = `${anyHostKey} -o LogLevel=ERROR ${overRelay}`

/**
 * What the tool must know to reach each host beyond what inventories show to people: a second inventory, which wins.
 * Windows is spoken to over the HTTP proxy that every tool finds in its environment.
 */
export const connections = (settings: Pick<Settings, "logins" | "windows">, hosts: readonly RangeHost[]): string => {
  const variablesOf = (host: RangeHost): Variables => {
    const login = loginOf(settings, host)
    const isOwn = host.osId !== undefined && settings.logins.has(host.osId)
    return {
      ...(login === undefined || !isOwn ? {} : loginVariables(login)),
      ...(login?.connection === "ssh" ? { ansible_ssh_common_args: sshArguments } : settings.windows === "psrp" ? psrp : {}),
      ...(host.address === undefined ? {} : { ansible_host: host.address }),
    }
  }
  return JSON.stringify({ all: { hosts: Object.fromEntries(hosts.map((host) => [host.name, variablesOf(host)])) } })
}
