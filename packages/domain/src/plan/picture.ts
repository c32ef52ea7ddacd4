import type { RangeId } from "../access/ids.ts"
import type { PowerState } from "../machine/observed.ts"
import { gatewayAddress, machineAddress, vlanNetwork, wanAddress } from "../network/addressing.ts"
import { type MachineConfig, type RangeConfig, renderName } from "../range/config/index.ts"

/** What is known of a machine now. */
export interface SeenNow {
  readonly power: PowerState
  /** As the guest reports it. */
  readonly address: string | undefined
}

interface Box {
  readonly width: number
  readonly lines: readonly string[]
}

/** Columns that the trunk takes on the left, and between two boxes. */
const margin = 4
const gap = 1
/** Column of a box's edge where a line comes from above or leaves below; that of the router's box is the trunk. */
const joint = 2

/**
 * The network of a range as text: the router above, under it a box for each VLAN with its machines, side by side as far as `width`
 * columns go. A filled dot is a machine that runs, an empty one is off, a dotted one does not exist; an address in brackets is the
 * configured one of a machine that has not reported it yet.
 */
export const renderTopology = (
  config: RangeConfig,
  range: { readonly id: RangeId; readonly number: number },
  seen: ReadonlyMap<string, SeenNow>,
  width = 110,
): string => {
  const routerName = renderName(config.router.name, { rangeId: range.id })
  const router = boxOf("router", [machineLine(routerName, wanAddress(range.number), seen.get(routerName), "")])
  const vlans = [...new Set(config.machines.map((m) => m.vlan))].sort((a, b) => a - b)
  const rows = inRows(
    vlans.map((vlan) => vlanBox(config, range, seen, vlan)),
    width - margin,
  )
  const [top = "", ...rest] = router.lines
  const lines = [
    "outside",
    "  │",
    joined(top, joint, "┴"),
    ...rest.slice(0, -1),
    joined(rest.at(-1) ?? "", joint, rows.length === 0 ? "─" : "┬"),
    ...rows.flatMap((row, i) => rowLines(row, i === rows.length - 1)),
  ]
  return `${lines.map((l) => l.trimEnd()).join("\n")}\n`
}

const vlanBox = (
  config: RangeConfig,
  range: { readonly id: RangeId; readonly number: number },
  seen: ReadonlyMap<string, SeenNow>,
  vlan: number,
): Box => {
  const machines = config.machines.filter((m) => m.vlan === vlan).toSorted((a, b) => a.octet - b.octet)
  const names = machines.map((m) => renderName(m.name, { rangeId: range.id }))
  const longest = Math.max(...names.map((n) => n.length))
  const lines = machines.map((m, i) => {
    const name = names[i]!
    return machineLine(name.padEnd(longest), machineAddress(range.number, vlan, m.octet), seen.get(name), noteOf(m))
  })
  return boxOf(`VLAN ${vlan}  ${vlanNetwork(range.number, vlan).text}`, [
    `gateway ${gatewayAddress(range.number, vlan)}`,
    ...lines,
  ])
}

const noteOf = ({ os, domain }: MachineConfig): string =>
  os.kind === "windows" && domain !== undefined ? `${domain.role} ${domain.fqdn}` : os.kind

const machineLine = (name: string, configured: string, now: SeenNow | undefined, note: string): string => {
  const dot = now === undefined ? "◌" : now.power === "running" ? "●" : "○"
  const address = now?.address ?? `(${configured})`
  return `${dot} ${name}  ${address.padEnd(17)}  ${note}`.trimEnd()
}

const boxOf = (title: string, content: readonly string[]): Box => {
  const inner = Math.max(title.length + 3, ...content.map((l) => l.length))
  const lines = [
    `┌── ${title} ${"─".repeat(inner - title.length - 2)}┐`,
    ...content.map((l) => `│ ${l.padEnd(inner)} │`),
    `└${"─".repeat(inner + 2)}┘`,
  ]
  return { width: inner + 4, lines }
}

/** As many boxes in a row as fit; one that is too wide has a row of its own. */
const inRows = (boxes: readonly Box[], width: number): readonly (readonly Box[])[] => {
  const rows: Box[][] = []
  let left = 0
  for (const box of boxes) {
    const row = rows.at(-1)
    if (row === undefined || box.width > left) {
      rows.push([box])
      left = width - box.width - gap
    } else {
      row.push(box)
      left -= box.width + gap
    }
  }
  return rows
}

const joined = (line: string, column: number, sign: string): string => line.slice(0, column) + sign + line.slice(column + 1)

/** A branch of the trunk to each box, and the boxes side by side; the trunk goes on beside them unless it is the last row. */
const rowLines = (row: readonly Box[], isLast: boolean): readonly string[] => {
  const starts = row.map((_, i) => margin + row.slice(0, i).reduce((sum, b) => sum + b.width + gap, 0))
  const joints = row.map((_, i) => starts[i]! + joint)
  const end = joints.at(-1)!
  const branch = Array.from({ length: end + 1 }, (_, c) => {
    if (c < joint) return " "
    if (c === joint) return isLast ? "└" : "├"
    if (c === end) return "┐"
    return joints.includes(c) ? "┬" : "─"
  }).join("")
  const beside = (isLast ? " " : "│").padStart(joint + 1).padEnd(margin)
  const height = Math.max(...row.map((b) => b.lines.length))
  const body = Array.from({ length: height }, (_, y) => {
    const cells = row.map((box) => {
      const line = box.lines[y] ?? "".padEnd(box.width)
      return y === 0 ? joined(line, joint, "┴") : line
    })
    return beside + cells.join(" ".repeat(gap))
  })
  return [branch, ...body]
}
