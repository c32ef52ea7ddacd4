import type { Vmid } from "../access/ids.ts"
import { type DisguiseMeans, disguisedHardware } from "../machine/disguise.ts"
import { type Hardware, hardwareText } from "../machine/hardware.ts"
import { macOf, writeDescription } from "../machine/mark.ts"
import type { MachineDetail, Nic } from "../machine/observed.ts"
import type { MachineSettings } from "./action.ts"
import { type DesiredMachine, type DesiredNic, nicModel } from "./desired.ts"
import type { OwnMachine } from "./identify.ts"

/** One way in which a VM differs from what it should be. */
export interface Difference {
  readonly field: "cores" | "memory" | "balloon" | "network" | "groups" | "tags" | "hardware" | "disguise"
  readonly desired: string
  readonly observed: string
  /** True: a running VM adopts it only when it starts again. */
  readonly needsRestart: boolean
}

/** A clone shows its template's cards until it is configured: a card that it was given then has our MAC address. */
export const isSetUp = ({ mark, observed }: OwnMachine, nic: Nic): boolean =>
  mark.adopted === true || nic.mac.toUpperCase() === macOf(observed.vmid, nic.index)

/** The MAC addresses that an adopted VM keeps, by card: the system in it knows its cards by them. */
const keptMacs = (existing: OwnMachine | undefined): ReadonlyMap<number, string> =>
  new Map(existing?.mark.adopted === true ? existing.detail.nics.map(({ index, mac }) => [index, mac]) : [])

/** The model of a card follows the template that the VM was made from, even when the configuration now names another one. */
const modelOf = (machine: DesiredMachine, wanted: DesiredNic["model"], own: OwnMachine | undefined): DesiredNic["model"] =>
  machine.isRouter || machine.disguise !== undefined || own?.mark.template === undefined ? wanted : nicModel(own.mark.template)

/**
 * The network cards of a machine. An existing router keeps the card of each VLAN where it is, so that a changed order in the file moves
 * nothing; a new VLAN gets the first free place. `own`: the existing VM. Cards that others have added stay, unless the VM has not been
 * set up yet: then they are its template's.
 */
export const nicsOf = (machine: DesiredMachine, vmid: Vmid, own: OwnMachine | undefined, isHalfMade: boolean): readonly Nic[] => {
  // after a rollback the owed settings count: nobody chose the cards that it brought back
  const existing = own?.owed ?? own?.detail
  const macs = keptMacs(own)
  const kept = new Map<number, number>()
  if (machine.isRouter)
    machine.nics.forEach((want, i) => {
      const at = existing?.nics.find((n) => i > 0 && n.index > 0 && n.bridge === want.bridge && n.tag === want.tag)
      if (at !== undefined) kept.set(i, at.index)
    })
  const known = new Set(kept.values())
  // a card of a router on the range's network is a leg, never somebody else's: one that is not wanted goes
  const network = machine.isRouter ? machine.nics[1]?.bridge : undefined
  const isLeg = (nic: Nic): boolean => nic.bridge === network && nic.tag !== undefined
  const others = isHalfMade ? [] : (existing?.nics ?? []).filter((nic) => nic.index > 0 && !known.has(nic.index) && !isLeg(nic))
  const taken = new Set([...known, ...others.map((n) => n.index)])
  let free = 0
  const wanted = machine.nics.map((want, i): Nic => {
    let index = kept.get(i)
    if (index === undefined) {
      while (taken.has(free)) free += 1
      index = free++
    }
    return {
      index,
      model: modelOf(machine, want.model, own),
      mac: macs.get(index) ?? macOf(vmid, index),
      bridge: want.bridge,
      tag: want.tag,
      firewall: false,
    }
  })
  return [...wanted, ...others].toSorted((a, b) => a.index - b.index)
}

/** The hardware that a VM is to show, and what it showed before its disguise; empty: nothing is to change. */
interface Shown {
  readonly hardware?: Hardware
  readonly undisguised?: Hardware
}

/** `now`: what the VM shows, or the template that it is cloned from. */
const shownBy = (
  { disguise }: DesiredMachine,
  vmid: Vmid,
  undisguised: Hardware | undefined,
  now: Hardware | undefined,
  means: DisguiseMeans | undefined,
): Shown => {
  if (disguise === undefined) return undisguised === undefined ? {} : { hardware: undisguised }
  // what is unknown or cannot be read now stays as it is
  if (means === undefined || now === undefined) return undisguised === undefined ? {} : { undisguised }
  // a disk that was added since still shows its own texts
  const kept = undisguised ?? now
  const isNew = ({ slot }: Hardware["disks"][number]) => kept.disks.every((disk) => disk.slot !== slot)
  return {
    hardware: disguisedHardware(disguise, vmid, now, means),
    undisguised: { ...kept, disks: [...kept.disks, ...now.disks.filter(isNew)] },
  }
}

/** The settings that a VM has to have. Tags that others have put on it stay. */
export const settingsOf = (
  rangeId: OwnMachine["mark"]["range"],
  machine: DesiredMachine,
  vmid: Vmid,
  existing: OwnMachine | undefined,
  isHalfMade: boolean,
  /** `template`: hardware of the template of a VM that is to be created; `means`: what is available for disguises. */
  { template, means }: { readonly template?: Hardware | undefined; readonly means?: DisguiseMeans | undefined },
): MachineSettings => {
  const { hardware = existing?.owed?.hardware, undisguised } = shownBy(
    machine,
    vmid,
    existing?.mark.undisguised,
    // after a rollback the owed settings count: nobody chose the hardware that it brought back
    existing === undefined ? template : (existing.owed?.hardware ?? existing.detail.hardware),
    means,
  )
  return {
    cpus: machine.cpus,
    memoryMiB: machine.memoryMiB,
    balloonMiB: machine.balloonMiB,
    nics: nicsOf(machine, vmid, existing, isHalfMade),
    description: writeDescription(
      {
        range: rangeId,
        machine: machine.name,
        template: existing === undefined ? machine.template : existing.mark.template,
        adopted: existing?.mark.adopted,
        undisguised,
      },
      machine.groups,
    ),
    tags: [...new Set([...(existing?.owed?.tags ?? existing?.detail.tags ?? []), ...machine.tags])].sort(),
    tablet: machine.os === "windows" && machine.disguise === undefined,
    ...(hardware === undefined ? {} : { hardware }),
  }
}

/** All differences between the VM and these settings. */
export const differencesOf = (
  existing: OwnMachine,
  machine: DesiredMachine,
  settings: MachineSettings,
): readonly Difference[] => {
  const { detail } = existing
  const found: Difference[] = []
  const compare = (field: Difference["field"], desired: string, is: string, needsRestart: boolean): void => {
    if (desired !== is) found.push({ field, desired, observed: is, needsRestart })
  }
  compare("cores", `${settings.cpus}`, `${detail.cpus}`, true)
  compare("memory", `${settings.memoryMiB} MiB`, `${detail.memoryMiB} MiB`, true)
  const wanted = balloonText(settings)
  const balloon = balloonText(detail)
  // the minimum changes while the VM runs; the device is added or removed only at a start
  compare("balloon", wanted, balloon, wanted === noBalloon || balloon === noBalloon)
  const otherCards = cardsText(settings.nics) !== cardsText(detail.nics)
  compare("network", nicsText(settings.nics), nicsText(detail.nics), detail.coldCards === true && otherCards)
  if (settings.hardware !== undefined && detail.hardware !== undefined) {
    const slots = new Set(settings.hardware.disks.map(({ slot }) => slot))
    compare("disguise", hardwareText(settings.hardware, slots), hardwareText(detail.hardware, slots), true)
  }
  compare("groups", machine.groups.join(", "), existing.groups.join(", "), false)
  const missing = machine.tags.filter((t) => !detail.tags.includes(t))
  if (missing.length > 0)
    found.push({ field: "tags", desired: machine.tags.join(", "), observed: detail.tags.join(", "), needsRestart: false })
  if (existing.owed !== undefined)
    found.push({ field: "hardware", desired: "its own", observed: "the snapshot's", needsRestart: false })
  return found
}

const noBalloon = "none"

/** A minimum of 0, or of all of the memory, means no ballooning. */
const balloonText = ({ balloonMiB, memoryMiB }: Pick<MachineDetail, "balloonMiB" | "memoryMiB">): string =>
  balloonMiB === undefined || balloonMiB === 0 || balloonMiB >= memoryMiB ? noBalloon : `${balloonMiB} MiB`

const inOrder = (nics: readonly Nic[], textOf: (nic: Nic) => string): string =>
  nics
    .toSorted((a, b) => a.index - b.index)
    .map(textOf)
    .join(", ")

const cardText = ({ index, model, mac }: Nic): string => `net${index} ${model} ${mac.toUpperCase()}`

/** The cards themselves, whatever they are attached to. */
const cardsText = (nics: readonly Nic[]): string => inOrder(nics, cardText)

const nicsText = (nics: readonly Nic[]): string =>
  inOrder(nics, (nic) => `${cardText(nic)} on ${nic.bridge}${nic.tag === undefined ? "" : ` tag ${nic.tag}`}`)
