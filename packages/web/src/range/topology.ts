import type { Topology, TopologyMachine } from "@rangewright/application/wire"
import { layOut, type Box, type Line } from "@rangewright/domain/layout"
import type { LiveEvent } from "../live/live.ts"

export type Lane = Topology["lanes"][number]

export interface LaneBox extends Box {
  readonly lane: Lane
  readonly shown: readonly TopologyMachine[]
  readonly folded: number
}

export interface Picture {
  readonly width: number
  readonly height: number
  readonly router: Box
  readonly lanes: readonly LaneBox[]
  readonly lines: readonly Line[]
}

const least = 216
const gap = 16
const trunk = 12
export const headHeight = 34
export const rowHeight = 30
/** Networks with more machines are folded. */
const most = 12

/** Boxes and lines for this width in pixels: networks side by side, all of the same width. */
export const pictureOf = ({ lanes }: Topology, width: number): Picture => {
  const margin = trunk * 2
  const columns = Math.max(1, Math.min(lanes.length, Math.floor((width - margin + gap) / (least + gap))))
  const laneWidth = Math.min(360, Math.floor((width - margin - gap * (columns - 1)) / columns))
  const folds = lanes.map((lane) => {
    const folded = lane.machines.length > most ? lane.machines.length - most + 1 : 0
    return { lane, folded, shown: lane.machines.slice(0, lane.machines.length - folded) }
  })
  const sizes = folds.map(({ shown, folded }) => ({
    width: laneWidth,
    height: headHeight + (shown.length + (folded > 0 ? 1 : 0)) * rowHeight + 6,
  }))
  const metrics = { width, gap, margin, trunk, joint: 18, above: 14, below: 12, entry: 18, top: 26 }
  const layout = layOut({ width: Math.min(width, margin + laneWidth), height: 42 }, sizes, metrics)
  return {
    width,
    height: layout.height + 2,
    router: layout.router,
    lines: layout.lines,
    lanes: folds.map((fold, at) => ({ ...fold, ...layout.boxes[at]! })),
  }
}

/** The network updated with an event about one of its machines; undefined when more than that has changed. */
export const patchTopology = (topology: Topology, { topic, data }: LiveEvent): Topology | undefined => {
  const { poweredOn, ip, name, proxmoxID, missingSince } = data
  if (topic !== "machine" || typeof poweredOn !== "boolean" || typeof ip !== "string") return undefined
  const isIt = (machine: TopologyMachine): boolean =>
    machine.vmid === proxmoxID &&
    machine.name === name &&
    (machine.address ?? "null") === ip &&
    machine.missingSince === missingSince
  const patch = (machine: TopologyMachine): TopologyMachine =>
    isIt(machine) ? { ...machine, power: poweredOn ? "running" : "stopped" } : machine
  if (![topology.router, ...topology.lanes.flatMap(({ machines }) => machines)].some(isIt)) return undefined
  return {
    ...topology,
    router: patch(topology.router),
    lanes: topology.lanes.map((lane) => ({ ...lane, machines: lane.machines.map(patch) })),
  }
}
