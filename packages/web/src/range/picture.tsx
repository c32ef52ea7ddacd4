import type { Machine, Range } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { plain } from "../parts/format.ts"
import { t } from "../texts.ts"
import { shortName } from "./sentence.ts"
import { type Box, headHeight, layOut, rowHeight, topologyOf } from "./topology.ts"

const addressText = (ip: string): string => (ip === "null" || ip === "" ? t.range.noAddress : ip)

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const stateText = (machine: Machine): string =>
  machine.missingSince !== undefined ? t.power.missing : machine.poweredOn ? t.power.on : t.power.off

const Node = ({
  rangeID,
  machine,
  box,
  label,
}: {
  readonly rangeID: string
  readonly machine: Machine
  readonly box: Box
  readonly label?: string
}) => {
  const middle = box.y + box.height / 2
  const name = plain(shortName(rangeID, machine.name))
  const letters = Math.max(6, Math.floor((box.width - 136) / 7.4))
  const ip = machine.ip === "null" ? "" : plain(machine.ip)
  return (
    <a
      class={`node ${machine.missingSince !== undefined ? "missing" : machine.poweredOn ? "on" : "off"}`}
      href={`#machine-${machine.proxmoxID}`}
      aria-label={`${plain(machine.name)}, ${stateText(machine)}, ${plain(addressText(machine.ip))}`}
    >
      <title>{plain(machine.name)}</title>
      <rect class="hit" x={box.x + 2} y={box.y + 1} width={box.width - 4} height={box.height - 2} rx="5" />
      {machine.poweredOn ? (
        <circle class="dot" cx={box.x + 18} cy={middle} r="4.5" />
      ) : (
        <circle class="dot" cx={box.x + 18} cy={middle} r="4" />
      )}
      <text x={box.x + 32} y={middle}>
        {cut(label ?? name, letters)}
      </text>
      <text class="address" x={box.x + box.width - 12} y={middle}>
        {ip === "" ? "—" : ip}
      </text>
    </a>
  )
}

/** The network of a range. It takes the width that it is given; the table of machines holds the same for who cannot see it. */
export const Picture = ({ range }: { readonly range: Range }) => {
  const frame = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const topology = topologyOf(range)
  const layout = layOut(topology, width.value)
  const { router, lanes } = layout
  return (
    <div class="picture" ref={frame}>
      {width.value < 100 ? null : (
        <svg
          width={layout.width}
          height={layout.height}
          viewBox={`0 0 ${layout.width} ${layout.height}`}
          role="group"
          aria-label={t.range.pictureText(lanes.length, range.VMs.length)}
        >
          <text class="outside" x="0" y="9">
            {t.range.outside}
          </text>
          <path class="lines" d={layout.lines} />
          <rect class="box router" x={router.x + 0.5} y={router.y} width={router.width - 1} height={router.height} rx="8" />
          {topology.router === undefined ? (
            <text x={router.x + 32} y={router.y + router.height / 2}>
              {t.range.router}
            </text>
          ) : (
            <Node rangeID={range.rangeID} machine={topology.router} box={router} label={t.range.router} />
          )}
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
                  key={machine.proxmoxID}
                  rangeID={range.rangeID}
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
  )
}
