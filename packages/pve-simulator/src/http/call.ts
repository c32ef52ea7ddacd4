import { failure } from "../core/errors.ts"
import { startTask, type TaskHandle } from "../core/tasks.ts"
import type { Routine } from "../core/routine.ts"
import type { Guest, NodeState } from "../core/state.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import type { Identity } from "./identity.ts"
import type { Upload } from "./upload.ts"

/** An authorized and checked request for a handler. */
export interface Call {
  readonly world: World
  readonly identity: Identity
  /** Checked parameters, including those of the path. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Members of the answer besides `data` (`total`, `changes`). */
  readonly beside: Record<string, unknown>
  /** The uploaded file. */
  readonly upload?: Upload
}

/** Returns the value of `data` for a call, at once or after waiting. */
export type Handler = (call: Call) => unknown

/** Handlers by `VERB /path/{param}`. */
export type Routes = Readonly<Record<string, Handler>>

/** A required parameter as text. */
export const text = (call: Call, name: string): string => asText(call.parameters[name])

/** An optional parameter as text. */
export const optionalText = (call: Call, name: string): string | undefined => {
  const value = call.parameters[name]
  return value === undefined ? undefined : asText(value)
}

/** An optional number. */
export const optionalNumber = (call: Call, name: string): number | undefined => {
  const value = call.parameters[name]
  return value === undefined ? undefined : Number(value)
}

/** A boolean parameter; absent is false. */
export const flag = (call: Call, name: string): boolean => call.parameters[name] === 1

/** The node in the path; request handling has checked that it exists. */
export const nodeOf = (call: Call): NodeState => {
  const node = call.world.state.nodes.get(text(call, "node"))
  if (node === undefined) throw failure(`no such cluster node '${text(call, "node")}'`)
  return node
}

/** The VMID in the path. */
export const vmidOf = (call: Call): number => Number(call.parameters["vmid"])

/** The guest in the path if it is on the node in the path, else undefined. */
export const findGuest = (call: Call): Guest | undefined => {
  const guest = call.world.state.guests.get(vmidOf(call))
  return guest !== undefined && guest.node === text(call, "node") ? guest : undefined
}

/** The failure of reading the configuration of a guest that is not on the node. */
export const missingConfig = (node: string, vmid: number): Error =>
  failure(`Configuration file 'nodes/${node}/qemu-server/${vmid}.conf' does not exist`)

/** Returns the guest in the path, or fails like reading its missing configuration file. */
export const guestOf = (call: Call): Guest => {
  const guest = findGuest(call)
  if (guest === undefined) throw missingConfig(text(call, "node"), vmidOf(call))
  return guest
}

/** Starts a task on the node in the path in the name of the caller. */
export const spawn = (
  call: Call,
  type: string,
  id: string | number,
  body: (task: TaskHandle) => Routine<void>,
  node = text(call, "node"),
): string => startTask(call.world, { node, type, id: String(id), author: call.identity }, body)
