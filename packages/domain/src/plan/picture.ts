import { layOut, type Layout, type Metrics } from "./layout.ts"
import type { Topology, TopologyMachine } from "./topology.ts"

interface TextBox {
  readonly width: number
  readonly height: number
  readonly lines: readonly string[]
}

/** In characters: the trunk is in the third column, which is also where lines enter boxes. */
const metrics = { gap: 1, margin: 4, trunk: 2, joint: 2, above: 0, below: 1, entry: 1, top: 2 } as const satisfies Omit<
  Metrics,
  "width"
>

/**
 * The network of a range as text: the router at the top, below it a box for each VLAN with its machines, side by side as far as `width`
 * columns allow. A filled dot is a running machine, an empty one is off, a dotted one does not exist; an address in parentheses is the
 * configured one of a machine that has not reported its own yet.
 */
export const renderTopology = ({ router, lanes }: Topology, width = 110): string => {
  const routerBox = boxOf("router", [machineLine(router.name, router, "")])
  const texts = lanes.map(laneBox)
  const layout = layOut(routerBox, texts, { ...metrics, width })
  return drawn(layout, routerBox, texts)
}

const laneBox = ({ vlan, network, gateway, machines }: Topology["lanes"][number]): TextBox => {
  const longest = Math.max(...machines.map(({ name }) => name.length))
  const lines = machines.map((machine) => machineLine(machine.name.padEnd(longest), machine, noteOf(machine)))
  return vlan === undefined
    ? boxOf("no address yet", lines)
    : boxOf(`VLAN ${vlan}  ${network ?? ""}`, [`gateway ${gateway ?? ""}`, ...lines])
}

const noteOf = ({ os, domain }: TopologyMachine): string =>
  os === "windows" && domain !== undefined ? `${domain.role} ${domain.fqdn}` : (os ?? "")

const machineLine = (name: string, { power, address, configured }: TopologyMachine, note: string): string => {
  const dot = power === "absent" ? "◌" : power === "running" ? "●" : "○"
  return `${dot} ${name}  ${(address ?? (configured === undefined ? "" : `(${configured})`)).padEnd(17)}  ${note}`.trimEnd()
}

const boxOf = (title: string, content: readonly string[]): TextBox => {
  const inner = Math.max(title.length + 3, ...content.map((l) => l.length))
  const lines = [
    `┌── ${title} ${"─".repeat(inner - title.length - 2)}┐`,
    ...content.map((l) => `│ ${l.padEnd(inner)} │`),
    `└${"─".repeat(inner + 2)}┘`,
  ]
  return { width: inner + 4, height: lines.length, lines }
}

const up = 1
const down = 2
const left = 4
const right = 8
/** Indexed by the directions in which lines leave a cell, as a bit mask. */
const signs = " │││─┘┐┤─└┌├─┴┬┼"

/** The directions that a character of a box has: lines that come in are added to them. */
const directions = new Map([...signs].map((sign, mask) => [sign, mask]))

const drawn = (layout: Layout, routerBox: TextBox, texts: readonly TextBox[]): string => {
  const { router, boxes, lines, width, height } = layout
  const cells = Array.from({ length: height }, () => Array.from({ length: width }, () => " "))
  const masks = new Map<string, number>()
  const write = (x: number, y: number, text: string): void => {
    for (const [at, sign] of [...text].entries()) cells[y]![x + at] = sign
  }
  write(0, 0, "outside")
  for (const [row, line] of routerBox.lines.entries()) write(router.x, router.y + row, line)
  for (const [at, { x, y }] of boxes.entries()) for (const [row, line] of texts[at]!.lines.entries()) write(x, y + row, line)
  const join = (x: number, y: number, mask: number): void => {
    const key = `${x} ${y}`
    const joined = (masks.get(key) ?? directions.get(cells[y]![x]!) ?? 0) | mask
    masks.set(key, joined)
    cells[y]![x] = signs[joined]!
  }
  const foot = router.y + router.height
  for (const { x1, y1, x2, y2 } of lines) {
    if (x1 !== x2) {
      for (let x = x1; x <= x2; x++) join(x, y1, (x > x1 ? left : 0) | (x < x2 ? right : 0))
      continue
    }
    // the trunk leaves the lowest line of the router's box
    const from = y1 === foot && x1 === metrics.trunk ? y1 - 1 : y1
    for (let y = from; y <= y2; y++) join(x1, y, (y > from ? up : 0) | (y < y2 ? down : 0))
  }
  return `${cells.map((row) => row.join("").trimEnd()).join("\n")}\n`
}
