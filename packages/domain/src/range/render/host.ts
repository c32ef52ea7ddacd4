import type { Vmid } from "../../access/ids.ts"
import type { ObservedMachine } from "../../machine/observed.ts"
import { type MachineConfig, type RangeConfig, renderName } from "../config/index.ts"
import { machineGroups, routerGroups } from "../groups.ts"
import { gatewayAddress, machineAddress, rangeNetwork, wanAddress } from "../../network/addressing.ts"
import { addressNumber } from "../../network/cidr.ts"
import type { Range } from "../range.ts"
import { osIdOf } from "./guest-login.ts"
import { judgeAddresses } from "./own-address.ts"

/** A VM of a range as the service last saw it. */
export interface SeenMachine extends ObservedMachine {
  /** As the guest reported it: a claim, which `judgeAddresses` judges. */
  readonly address: string | undefined
  /** Reported addresses that belong to others (`judgeAddresses`). Absent: none is known. */
  readonly foreignAddresses?: readonly string[]
  readonly isRouter: boolean
}

/** A VM of a range joined with what the configuration says of it: what connection files and inventories are made from. */
export interface RangeHost {
  readonly seen: SeenMachine
  readonly name: string
  /** The machine's own address (`judgeAddresses`), or the configured one where the configuration vouches for it (`force_ip`). */
  readonly address: string | undefined
  /** Where the machine is to be found once its stages are done; undefined for machines that the configuration does not name. */
  readonly configuredAddress: string | undefined
  /** `windows`, `macos`, a distribution or `linux`; undefined for machines that the configuration does not name. */
  readonly osId: string | undefined
  /** The password that the service gave the machine's login; absent: the login is its template's. */
  readonly password?: string | undefined
  readonly groups: readonly string[]
  readonly machine: MachineConfig | undefined
}

/** Names that DNS, SSH and Ansible all take. What the hypervisor names otherwise appears in no file of ours. */
const plainName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})$/u

const staticAddress = (range: Pick<Range, "number">, machine: MachineConfig): string =>
  machineAddress(range.number, machine.vlan, machine.octet)

/** Whether an address is inside the range's own network. */
export const isInside = (range: Pick<Range, "number">, address: string | undefined): address is string => {
  const number = addressNumber(address ?? "")
  const { first, last } = rangeNetwork(range.number)
  return number !== undefined && first <= number && number <= last
}

/**
 * The addresses by which lists show machines: always inside the range. A machine that tells none has the configured one
 * where the configuration vouches for it (`force_ip`). A router that has its outer address has its legs too: it is shown by the first.
 */
export const shownAddresses = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
): ((seen: SeenMachine) => string | undefined) => {
  const machines = config?.machines ?? []
  const forced = new Map(
    machines
      .filter((machine) => machine.forceIp)
      .map((machine) => [renderName(machine.name, { rangeId: range.id }), staticAddress(range, machine)]),
  )
  const judge = judgeAddresses(range, config)
  const leg = machines[0] === undefined ? undefined : gatewayAddress(range.number, machines[0].vlan)
  return ({ name, address, isRouter }) => {
    const { own } = judge({ name, isRouter }, address === undefined ? [] : [address])
    if (isInside(range, own)) return own
    if (isRouter) return own === wanAddress(range.number) ? leg : undefined
    return name === undefined ? undefined : forced.get(name)
  }
}

/**
 * The hosts of a range, ascending by name. Templates and machines with names that no file can hold are left out. `passwords`: those that the
 * service gave to machines' logins.
 */
export const rangeHosts = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  machines: readonly SeenMachine[],
  passwords: ReadonlyMap<Vmid, string> = new Map(),
): readonly RangeHost[] => {
  const configured = new Map(
    (config?.machines ?? []).map((machine) => [renderName(machine.name, { rangeId: range.id }), machine] as const),
  )
  const judge = judgeAddresses(range, config)
  return machines
    .filter((seen) => !seen.template)
    .flatMap((seen) => {
      if (seen.name === undefined || !plainName.test(seen.name)) return []
      const { own } = judge(seen, seen.address === undefined ? [] : [seen.address])
      const password = passwords.get(seen.vmid)
      const host = hostOf(range, config, seen, seen.name, own, configured)
      return [password === undefined ? host : { ...host, password }]
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.seen.vmid - b.seen.vmid))
}

const hostOf = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  seen: SeenMachine,
  name: string,
  address: string | undefined,
  configured: ReadonlyMap<string, MachineConfig>,
): RangeHost => {
  if (seen.isRouter)
    return {
      seen,
      name,
      address,
      configuredAddress: undefined,
      osId: config === undefined ? undefined : osIdOf("linux", config.router.template),
      groups: routerGroups(range.id),
      machine: undefined,
    }
  const machine = configured.get(name)
  if (machine === undefined)
    return { seen, name, address, configuredAddress: undefined, osId: undefined, groups: [range.id], machine }
  const configuredAddress = staticAddress(range, machine)
  return {
    seen,
    name,
    address: address ?? (machine.forceIp ? configuredAddress : undefined),
    configuredAddress,
    osId: osIdOf(machine.os.kind, machine.template),
    groups: machineGroups(range.id, machine),
    machine,
  }
}
