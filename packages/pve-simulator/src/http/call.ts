import { failure } from "../core/errors.ts"
import { startTask, type TaskHandle } from "../core/tasks.ts"
import type { Routine } from "../core/routine.ts"
import type { Guest, NodeState } from "../core/state.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import type { Identity } from "./identity.ts"
import type { Upload } from "./upload.ts"

/** One authorised and checked request on its way to its handler. */
export interface Call {
  readonly world: World
  readonly identity: Identity
  /** Checked parameters, those of the path included. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** Members that stand beside `data` in the answer (`total`, `changes`). */
  readonly beside: Record<string, unknown>
  /** The file that came with it. */
  readonly upload?: Upload
}

/** Answers a call with the value of `data`, at once or after waiting. */
export type Handler = (call: Call) => unknown

/** Handlers by `VERB /path/{param}`. */
export type Routes = Readonly<Record<string, Handler>>

/** A parameter that the schema requires, as text. */
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

/** The node of the path, which the request handling has found to exist. */
export const nodeOf = (call: Call): NodeState => {
  const node = call.world.state.nodes.get(text(call, "node"))
  if (node === undefined) throw failure(`no such cluster node '${text(call, "node")}'`)
  return node
}

/** The VMID of the path. */
export const vmidOf = (call: Call): number => Number(call.parameters["vmid"])

/** The guest of the path on the node of the path, or undefined. */
export const findGuest = (call: Call): Guest | undefined => {
  const guest = call.world.state.guests.get(vmidOf(call))
  return guest !== undefined && guest.node === text(call, "node") ? guest : undefined
}

/** What reading the configuration of a guest that is not on the node says. */
export const missingConfig = (node: string, vmid: number): Error =>
  failure(`Configuration file 'nodes/${node}/qemu-server/${vmid}.conf' does not exist`)

/** The guest of the path, or the failure that reading its configuration file meets. */
export const guestOf = (call: Call): Guest => {
  const guest = findGuest(call)
  if (guest === undefined) throw missingConfig(text(call, "node"), vmidOf(call))
  return guest
}

/** Starts a task on the node of the path in the name of the caller. */
export const spawn = (
  call: Call,
  type: string,
  id: string | number,
  body: (task: TaskHandle) => Routine<void>,
  node = text(call, "node"),
): string => startTask(call.world, { node, type, id: String(id), author: call.identity }, body)
