import type { Run } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { duration, plain } from "../parts/format.ts"
import { t } from "../texts.ts"
import { shortName } from "../range/sentence.ts"
import { type Bar, type Pause, ticks, timelineOf } from "./timeline.ts"

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

type Scale = (at: number) => number

const Hatched = ({
  pause: { from, to, reason },
  x,
  top,
  height,
}: {
  readonly pause: Pause
  readonly x: Scale
  readonly top: number
  readonly height: number
}) => (
  <g class="pause">
    <title>{`${t.run.waits}: ${plain(reason)}\n${duration(to - from)}`}</title>
    <rect x={x(from)} y={top} width={Math.max(3, x(to) - x(from))} height={height} />
  </g>
)

const titleOf = ({ step, phase, from, to, attempt, failure, isCritical }: Bar): string =>
  [
    plain(step.title),
    [
      t.phase[phase],
      duration(to - from),
      t.run.estimate(duration(step.expectedSeconds ?? step.estimateSeconds)),
      ...(attempt > 1 || phase !== step.phase ? [t.run.attempt(attempt)] : []),
      ...(isCritical ? [t.run.critical] : []),
    ].join(" · "),
    ...(failure === undefined ? [] : [plain(failure)]),
  ].join("\n")

const BarView = ({ bar, x, top }: { readonly bar: Bar; readonly x: Scale; readonly top: number }) => {
  const { step, from, to, phase, isCritical, expected } = bar
  const left = x(from)
  const size = Math.max(3, x(to) - left - 1)
  const letters = Math.floor((size - 10) / 6.6)
  const title = plain(step.title)
  return (
    <g class={`bar ${phases[phase]}${isCritical ? " critical" : ""}`}>
      <title>{titleOf(bar)}</title>
      {expected === undefined || expected <= to ? null : (
        <rect class="ghost" x={left} y={top} width={Math.max(3, x(expected) - left)} height={barHeight} rx="3" />
      )}
      <rect x={left} y={top} width={size} height={barHeight} rx="3" />
      {isCritical ? <path class="mark" d={`M${left} ${top + barHeight + 1}h${size}`} /> : null}
      {phase === "failed" ? <path class="cross" d={`M${left + 4} ${top + 5}l8 8m0 -8l-8 8`} /> : null}
      {letters < 5 || phase === "failed" ? null : (
        <text x={left + 6} y={top + barHeight / 2}>
          {title.length > letters ? `${title.slice(0, letters - 1)}…` : title}
        </text>
      )}
    </g>
  )
}

const Legend = ({
  hasCritical,
  hasExpected,
  hasPauses,
}: {
  readonly hasCritical: boolean
  readonly hasExpected: boolean
  readonly hasPauses: boolean
}) => (
  <p class="legend">
    {(["settled", "started", "failed", "skipped"] as const).map((phase) => (
      <span key={phase}>
        <span class={`swatch ${phases[phase]}`} />
        {t.phase[phase]}
      </span>
    ))}
    {hasExpected ? (
      <span>
        <span class="swatch ghost" />
        {t.run.expectedLegend}
      </span>
    ) : null}
    {hasPauses ? (
      <span>
        <span class="swatch pause" />
        {t.run.waits}
      </span>
    ) : null}
    {hasCritical ? (
      <span>
        <span class="swatch critical" />
        {t.run.criticalLegend}
      </span>
    ) : null}
  </p>
)

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
  const { seconds, lanes, pauses, hasCritical } = timelineOf(run, now)
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
          <defs>
            <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <path d="M0 0V6" />
            </pattern>
          </defs>
          {ticks(seconds).map((at) => (
            <g key={at} class="tick">
              <path d={`M${x(at)} 20V${y}`} />
              {/* the edge would cut off the last one */}
              {x(at) + duration(at).length * 6.5 > width.value ? null : (
                <text x={x(at)} y="12">
                  {duration(at)}
                </text>
              )}
            </g>
          ))}
          {rows.map(({ lane, begin, height }, index) => (
            <g key={lane.name ?? ""}>
              {index % 2 === 0 ? <rect class="stripe" x="0" y={begin} width={width.value} height={height} /> : null}
              <text class="lane" x="8" y={begin + pad + barHeight / 2}>
                {(() => {
                  const name = lane.name === undefined ? t.run.common : plain(shortName(run.rangeID ?? "", lane.name))
                  const most = Math.floor((labelWidth - 18) / 7.3)
                  return name.length > most ? `${name.slice(0, most - 1)}…` : name
                })()}
              </text>
              {lane.pauses.map((pause, at) => (
                <Hatched key={at} pause={pause} x={x} top={begin + 1} height={height - 2} />
              ))}
              {lane.bars.map((bar) => (
                <BarView key={`${bar.step.key} ${bar.attempt}`} bar={bar} x={x} top={begin + pad + bar.row * (barHeight + 3)} />
              ))}
            </g>
          ))}
          {pauses.map((pause, at) => (
            <Hatched key={at} pause={pause} x={x} top={20} height={y - 20} />
          ))}
        </svg>
      )}
      <Legend
        hasCritical={hasCritical}
        hasExpected={lanes.some(({ bars }) => bars.some(({ to, expected = 0 }) => expected > to))}
        hasPauses={pauses.length > 0 || lanes.some((lane) => lane.pauses.length > 0)}
      />
    </div>
  )
}
