import type { Vmid } from "../../access/ids.ts"
import type { ObservedMachine } from "../../machine/observed.ts"
import { type MachineConfig, type RangeConfig, renderName } from "../config/index.ts"
import { machineGroups, routerGroups } from "../groups.ts"
import { gatewayAddress, machineAddress, rangeNetwork, wanAddress } from "../../network/addressing.ts"
import { addressNumber } from "../../network/cidr.ts"
import type { Range } from "../range.ts"
import { type GuestSystem, osIdOf } from "../../machine/guest-system.ts"
import type { TemplateLogin } from "./guest-login.ts"
import { judgeAddresses } from "./own-address.ts"

/** A VM of a range as the service last saw it. */
export interface SeenMachine extends ObservedMachine {
  /** As the guest reported it: a claim that `judgeAddresses` judges. */
  readonly address: string | undefined
  /** Reported addresses that belong to others (`judgeAddresses`). Absent: none are known. */
  readonly foreignAddresses?: readonly string[]
  readonly isRouter: boolean
}

/** A VM of a range joined with its configuration: connection files and inventories are made from it. */
export interface RangeHost {
  readonly seen: SeenMachine
  readonly name: string
  /** The machine's own address (`judgeAddresses`), or the configured one if the configuration vouches for it (`force_ip`). */
  readonly address: string | undefined
  /** The machine's address once its stages are done; undefined for machines that the configuration does not name. */
  readonly configuredAddress: string | undefined
  /** `windows`, `macos`, a distribution or `linux` (`osIdOf`); undefined when unknown. */
  readonly osId: string | undefined
  /** True: only the machine itself claims it. */
  readonly isOsClaimed?: boolean
  /** The operating system as the guest agent reports it; unverified. */
  readonly system?: GuestSystem | undefined
  /** The password that the service gave the machine's login; absent: the login is its template's. */
  readonly password?: string | undefined
  /** The login of its template, if the installation has one for it. */
  readonly templateLogin?: TemplateLogin | undefined
  readonly groups: readonly string[]
  readonly machine: MachineConfig | undefined
}

/** What is known about a range's machines besides what was observed. Absent: nothing. */
export interface HostFacts {
  /** Those that the service gave to the machines' logins. */
  readonly passwords?: ReadonlyMap<Vmid, string>
  /** Operating systems as guest agents reported them. */
  readonly systems?: ReadonlyMap<Vmid, GuestSystem>
  /** By the name of the template. */
  readonly templateLogins?: ReadonlyMap<string, TemplateLogin>
  /** The operating system that a template is tagged with, by the template's name. */
  readonly templateSystems?: ReadonlyMap<string, string>
}

/** Names that DNS, SSH and Ansible all accept. A machine with another name on the hypervisor appears in none of our files. */
const plainName = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,253})$/u

const staticAddress = (range: Pick<Range, "number">, machine: MachineConfig): string =>
  machineAddress(range.number, machine.vlan, machine.octet)

/** Whether an address is inside the range's own network. */
export const isInside = (range: Pick<Range, "number">, address: string | undefined): address is string => {
  if (address === undefined) return false
  const number = addressNumber(address)
  const { first, last } = rangeNetwork(range.number)
  return number !== undefined && first <= number && number <= last
}

/**
 * The addresses that lists show for machines: always inside the range. A machine that reports none has the configured one if the
 * configuration vouches for it (`force_ip`). A router that has its outer address also has its legs: the first of them is shown.
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

/** The hosts of a range, ascending by name. Templates are left out, and so are machines with names that no file can contain. */
export const rangeHosts = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  machines: readonly SeenMachine[],
  facts: HostFacts = {},
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
      return [hostOf(range, config, { seen, name: seen.name, address: own }, configured, facts)]
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.seen.vmid - b.seen.vmid))
}

const hostOf = (
  range: Pick<Range, "id" | "number">,
  config: RangeConfig | undefined,
  { seen, name, address }: Pick<RangeHost, "seen" | "name" | "address">,
  configured: ReadonlyMap<string, MachineConfig>,
  { passwords, systems, templateLogins, templateSystems }: HostFacts,
): RangeHost => {
  const machine = seen.isRouter ? undefined : configured.get(name)
  const template = seen.isRouter ? config?.router.template : machine?.template
  const system = systems?.get(seen.vmid)
  const kind = seen.isRouter && config !== undefined ? "linux" : machine?.os.kind
  const tagged = template === undefined ? undefined : templateSystems?.get(template)
  const osId = osIdOf({ kind, claimed: system, tagged, template })
  const common = {
    seen,
    name,
    osId,
    isOsClaimed: osId !== osIdOf({ kind, claimed: undefined, tagged, template }),
    system,
    password: passwords?.get(seen.vmid),
    templateLogin: template === undefined ? undefined : templateLogins?.get(template),
    machine,
  }
  if (machine === undefined) {
    const groups = seen.isRouter ? routerGroups(range.id) : [range.id]
    return { ...common, address, configuredAddress: undefined, groups }
  }
  const configuredAddress = staticAddress(range, machine)
  return {
    ...common,
    address: address ?? (machine.forceIp ? configuredAddress : undefined),
    configuredAddress,
    groups: machineGroups(range.id, machine),
  }
}
