import type { Machine, Range } from "@rangewright/application/wire"

/** Machines of one network of a range. */
export interface Lane {
  readonly vlan: number | undefined
  readonly network: string | undefined
  readonly machines: readonly Machine[]
}

export interface Topology {
  readonly router: Machine | undefined
  readonly lanes: readonly Lane[]
}

/** Networks of a range are `10.<range>.<VLAN>.0/24`. */
const vlanOf = (ip: string): number | undefined => {
  const parts = /^10\.\d{1,3}\.(\d{1,3})\.\d{1,3}$/u.exec(ip)
  return parts === null ? undefined : Number(parts[1])
}

const lastOctet = (ip: string): number => Number(ip.slice(ip.lastIndexOf(".") + 1)) || 0

export const topologyOf = ({ VMs, rangeNumber }: Range): Topology => {
  const lanes = new Map<number | undefined, Machine[]>()
  for (const machine of VMs) {
    if (machine.isRouter === true) continue
    const vlan = vlanOf(machine.ip)
    const lane = lanes.get(vlan)
    if (lane === undefined) lanes.set(vlan, [machine])
    else lane.push(machine)
  }
  return {
    router: VMs.find(({ isRouter }) => isRouter === true),
    lanes: [...lanes]
      .toSorted(([a], [b]) => (a ?? Infinity) - (b ?? Infinity))
      .map(([vlan, machines]) => ({
        vlan,
        network: vlan === undefined ? undefined : `10.${rangeNumber}.${vlan}.0/24`,
        machines: machines.toSorted((a, b) => lastOctet(a.ip) - lastOctet(b.ip)),
      })),
  }
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface LaneBox extends Box {
  readonly lane: Lane
  readonly shown: readonly Machine[]
  readonly folded: number
}

export interface Layout {
  readonly width: number
  readonly height: number
  readonly router: Box
  readonly lanes: readonly LaneBox[]
  /** Lines between the boxes, as the data of an SVG path. */
  readonly lines: string
}

const least = 216
const gap = 16
const trunk = 12
export const headHeight = 34
export const rowHeight = 30
const most = 12

/** Boxes and lines for this many pixels: the router above, under it the networks side by side, as many as fit. */
export const layOut = ({ lanes }: Topology, width: number): Layout => {
  const left = trunk * 2
  const columns = Math.max(1, Math.min(lanes.length, Math.floor((width - left + gap) / (least + gap))))
  const laneWidth = Math.min(360, Math.floor((width - left - gap * (columns - 1)) / columns))
  const router: Box = { x: 0, y: 26, width: Math.min(width, left + laneWidth), height: 42 }
  const boxes: LaneBox[] = []
  const lines = [`M${trunk} 18V${router.y}`]
  let top = router.y + router.height
  let trunkEnd = top
  for (let at = 0; at < lanes.length; at += columns) {
    const row = lanes.slice(at, at + columns)
    const branch = top + 14
    const y = branch + 12
    let tallest = 0
    for (const [column, lane] of row.entries()) {
      const folded = lane.machines.length > most ? lane.machines.length - most + 1 : 0
      const shown = lane.machines.slice(0, lane.machines.length - folded)
      const height = headHeight + (shown.length + (folded > 0 ? 1 : 0)) * rowHeight + 6
      const x = left + column * (laneWidth + gap)
      boxes.push({ lane, shown, folded, x, y, width: laneWidth, height })
      lines.push(`M${x + 18} ${branch}V${y}`)
      tallest = Math.max(tallest, height)
    }
    lines.push(`M${trunk} ${branch}H${left + (row.length - 1) * (laneWidth + gap) + 18}`)
    trunkEnd = branch
    top = y + tallest
  }
  if (lanes.length > 0) lines.push(`M${trunk} ${router.y + router.height}V${trunkEnd}`)
  return { width, height: top + 2, router, lanes: boxes, lines: lines.join("") }
}
