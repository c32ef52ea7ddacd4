import type { Topology, TopologyMachine } from "@rangewright/application/wire"
import type { Box } from "@rangewright/domain/layout"
import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import { plain } from "../parts/format.ts"
import { t } from "../texts.ts"
import { shortName } from "./sentence.ts"
import { headHeight, pictureOf, rowHeight } from "./topology.ts"

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const stateOf = ({ missingSince, power }: TopologyMachine): "missing" | "absent" | "on" | "off" =>
  missingSince !== undefined ? "missing" : power === "absent" ? "absent" : power === "running" ? "on" : "off"

/** The address, in brackets while the machine has not reported it. */
const addressText = ({ address, configured }: TopologyMachine): string =>
  address ?? (configured === undefined ? "" : `(${configured})`)

const Node = ({
  rangeID,
  machine,
  box,
  label,
}: {
  readonly rangeID: string
  readonly machine: TopologyMachine
  readonly box: Box
  readonly label?: string
}) => {
  const middle = box.y + box.height / 2
  const name = plain(shortName(rangeID, machine.name))
  const letters = Math.max(6, Math.floor((box.width - 136) / 7.4))
  const state = stateOf(machine)
  const address = plain(addressText(machine))
  const step = machine.step === undefined ? "" : plain(machine.step)
  const spoken = [plain(machine.name), t.power[state], address === "" ? t.range.noAddress : address, step]
    .filter(Boolean)
    .join(", ")
  const inside = (
    <>
      <title>{step === "" ? plain(machine.name) : `${plain(machine.name)}: ${step}`}</title>
      <rect class="hit" x={box.x + 2} y={box.y + 1} width={box.width - 4} height={box.height - 2} rx="5" />
      <circle class="dot" cx={box.x + 18} cy={middle} r={state === "on" ? 4.5 : 4} />
      <text x={box.x + 32} y={middle}>
        {cut(label ?? name, letters)}
      </text>
      <text class="address" x={box.x + box.width - 12} y={middle}>
        {address === "" ? "—" : address}
      </text>
    </>
  )
  const look = `node ${state}${step === "" ? "" : " busy"}`
  return machine.vmid === undefined ? (
    <g class={look} role="img" aria-label={spoken}>
      {inside}
    </g>
  ) : (
    <a class={look} href={`#machine-${machine.vmid}`} aria-label={spoken}>
      {inside}
    </a>
  )
}

/** The network of a range, drawn in the available width; the table of machines has the same content for people who cannot see it. */
export const Picture = ({ topology }: { readonly topology: Topology }) => {
  const frame = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  // before the first paint, so that what is below does not move
  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    width.value = element.clientWidth
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const { rangeID } = topology
  const picture = pictureOf(topology, width.value)
  const { router, lanes } = picture
  const count = topology.lanes.reduce((sum, { machines }) => sum + machines.length, 1)
  return (
    <div class="picture">
      <div ref={frame}>
        {width.value < 100 ? null : (
          <svg
            width={picture.width}
            height={picture.height}
            viewBox={`0 0 ${picture.width} ${picture.height}`}
            role="group"
            aria-label={t.range.pictureText(lanes.length, count)}
          >
            <text class="outside" x="0" y="9">
              {t.range.outside}
            </text>
            <path class="lines" d={picture.lines.map(({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`).join("")} />
            <rect class="box router" x={router.x + 0.5} y={router.y} width={router.width - 1} height={router.height} rx="8" />
            <Node rangeID={rangeID} machine={topology.router} box={router} label={t.range.router} />
            {lanes.map(({ lane, shown, folded, x, y, width: laneWidth, height }) => (
              <g key={String(lane.vlan)}>
                <rect class="box" x={x + 0.5} y={y} width={laneWidth - 1} height={height} rx="8" />
                <text class="lane" x={x + 12} y={y + headHeight / 2 + 1}>
                  {lane.vlan === undefined ? t.range.noAddress : t.range.vlan(lane.vlan)}
                </text>
                <text class="address" x={x + laneWidth - 12} y={y + headHeight / 2 + 1}>
                  {lane.network ?? ""}
                </text>
                {shown.map((machine, at) => (
                  <Node
                    key={machine.name}
                    rangeID={rangeID}
                    machine={machine}
                    box={{ x, y: y + headHeight + at * rowHeight, width: laneWidth, height: rowHeight }}
                  />
                ))}
                {folded === 0 ? null : (
                  <text class="more" x={x + 32} y={y + headHeight + shown.length * rowHeight + rowHeight / 2}>
                    {t.range.fold(folded)}
                  </text>
                )}
              </g>
            ))}
          </svg>
        )}
      </div>
    </div>
  )
}
