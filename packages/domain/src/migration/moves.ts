import type { MachineSettings } from "../plan/action.ts"
import type { MigrationAction, NicMove } from "./action.ts"
import type { OwnMachine } from "./machines.ts"
import { nicNetwork, onNetwork } from "./nic.ts"
import type { MachineMove } from "./plan.ts"

/** A machine and those of its network cards that move. */
export interface Mover {
  readonly own: OwnMachine
  readonly nics: readonly NicMove[]
}

/** The machines that are attached to a network that has a successor, with all such cards, in the order in which they move. */
export const moversOf = (own: readonly OwnMachine[], successors: ReadonlyMap<string, string>): readonly Mover[] =>
  own.flatMap((one) => {
    const nics = (one.machine.nics ?? []).flatMap(({ nic, text }): readonly NicMove[] => {
      const from = nicNetwork(text)
      const to = from === undefined ? undefined : successors.get(from)
      return from === undefined || to === undefined || from === to ? [] : [{ nic, from, to }]
    })
    return nics.length === 0 ? [] : [{ own: one, nics }]
  })

/** The settings owed to a machine after a rollback, with its cards on the networks that have replaced theirs since. */
export const movedSettings = (settings: MachineSettings, moves: readonly NicMove[]): MachineSettings => ({
  ...settings,
  nics: settings.nics.map((nic) => ({ ...nic, bridge: moves.find(({ from }) => from === nic.bridge)?.to ?? nic.bridge })),
})

/** The move of a machine, for people. */
export const moveOf = ({ own: { machine, range }, nics }: Mover): MachineMove => ({
  vmid: machine.vmid,
  name: machine.name,
  node: machine.node,
  range,
  running: machine.running,
  nics: nics.map(({ nic, to }) => {
    const before = (machine.nics ?? []).find((candidate) => candidate.nic === nic)?.text ?? ""
    return { nic, before, after: onNetwork(before, to) }
  }),
})

export const moveAction = ({ own: { machine, guard }, nics }: Mover): Extract<MigrationAction, { kind: "move-nics" }> => ({
  kind: "move-nics",
  vmid: machine.vmid,
  node: machine.node,
  name: machine.name,
  guard,
  nics,
})

/**
 * What a move has to write, given how a card is now. `there`: it is where it should be. `elsewhere`: somebody has put it on a third network
 * meanwhile, or it is gone or on none (no name).
 */
export const nicChange = (
  text: string | undefined,
  { from, to }: Pick<NicMove, "from" | "to">,
):
  | { readonly type: "there" }
  | { readonly type: "write"; readonly text: string }
  | { readonly type: "elsewhere"; readonly network: string | undefined } => {
  const network = text === undefined ? undefined : nicNetwork(text)
  if (text === undefined || (network !== from && network !== to)) return { type: "elsewhere", network }
  return network === to ? { type: "there" } : { type: "write", text: onNetwork(text, to) }
}
