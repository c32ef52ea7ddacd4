import type { Run } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { duration, plain } from "../parts/format.ts"
import { Text } from "../parts/parts.tsx"
import { t } from "../texts.ts"
import { shortName } from "../range/sentence.ts"
import { ticks, timelineOf } from "./timeline.ts"

const barHeight = 18
const pad = 5

const phases = {
  planned: "planned",
  started: "busy",
  dispatched: "busy",
  settled: "ok",
  failed: "bad",
  skipped: "quiet",
} as const

export const TimelineView = ({ run, now }: { readonly run: Run; readonly now: number }) => {
  const track = useRef<HTMLDivElement>(null)
  const width = useSignal(0)
  useEffect(() => {
    const element = track.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.floor(entry?.contentRect.width ?? 0)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const { seconds, lanes } = timelineOf(run, now)
  const labelWidth = width.value < 560 ? 96 : 170
  const scale = Math.max(0, width.value - labelWidth - 8) / seconds
  const x = (at: number): number => labelWidth + at * scale
  let y = 24
  const rows = lanes.map((lane) => {
    const begin = y
    const height = lane.rows * (barHeight + 3) + 2 * pad
    y += height
    return { lane, begin, height }
  })
  const steps = lanes.reduce((sum, { bars }) => sum + bars.length, 0)
  return (
    <div class="timeline" ref={track}>
      {lanes.length === 0 ? <p class="muted">{t.run.notStarted}</p> : null}
      {width.value < 100 || lanes.length === 0 ? null : (
        <svg
          width={width.value}
          height={y + 4}
          viewBox={`0 0 ${width.value} ${y + 4}`}
          role="img"
          aria-label={t.run.timelineText(lanes.length, steps)}
        >
          {ticks(seconds).map((at) => (
            <g key={at} class="tick">
              <path d={`M${x(at)} 20V${y}`} />
              <text x={x(at)} y="12">
                {duration(at)}
              </text>
            </g>
          ))}
          {rows.map(({ lane, begin, height }, index) => (
            <g key={lane.name ?? ""}>
              {index % 2 === 0 ? <rect class="stripe" x="0" y={begin} width={width.value} height={height} /> : null}
              <text class="lane" x="8" y={begin + pad + barHeight / 2}>
                {(() => {
                  const name = lane.name === undefined ? t.run.common : plain(shortName(run.rangeID ?? "", lane.name))
                  const most = Math.floor((labelWidth - 12) / 7.3)
                  return name.length > most ? `${name.slice(0, most - 1)}…` : name
                })()}
              </text>
              {lane.bars.map(({ step, from, to, row }) => {
                const left = x(from)
                const size = Math.max(3, x(to) - left - 1)
                const top = begin + pad + row * (barHeight + 3)
                const letters = Math.floor((size - 10) / 6.6)
                const title = plain(step.title)
                return (
                  <g key={step.key} class={`bar ${phases[step.phase]}`}>
                    <title>{`${title}\n${t.phase[step.phase]} · ${duration(to - from)} · ${t.run.estimate(duration(step.estimateSeconds))}${step.attempt > 1 ? ` · ${t.run.attempt(step.attempt)}` : ""}`}</title>
                    <rect x={left} y={top} width={size} height={barHeight} rx="3" />
                    {step.phase === "failed" ? <path class="cross" d={`M${left + 4} ${top + 5}l8 8m0 -8l-8 8`} /> : null}
                    {letters < 5 || step.phase === "failed" ? null : (
                      <text x={left + 6} y={top + barHeight / 2}>
                        {title.length > letters ? `${title.slice(0, letters - 1)}…` : title}
                      </text>
                    )}
                  </g>
                )
              })}
            </g>
          ))}
        </svg>
      )}
      <p class="legend">
        {(["ok", "busy", "bad", "quiet"] as const).map((tone, index) => (
          <span key={tone}>
            <span class={`swatch ${tone}`} />
            <Text>{[t.phase.settled, t.phase.started, t.phase.failed, t.phase.skipped][index] ?? ""}</Text>
          </span>
        ))}
      </p>
    </div>
  )
}
