import type { Machine, Range, Run } from "@rangewright/application/wire"
import type { Tone } from "../parts/parts.tsx"
import { dateOf, shortTime } from "../parts/format.ts"
import { t } from "../texts.ts"

/** The name of a machine without that of its range, which is shown above it. */
export const shortName = (rangeID: string, name: string): string =>
  name.startsWith(`${rangeID}-`) ? name.slice(rangeID.length + 1) : name

export const kindOf = (kind: string): string =>
  t.kinds[kind] ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll("-", " ")}`

export const poweredOn = (machines: readonly Machine[]): number => machines.filter((machine) => machine.poweredOn).length

const powerText = ({ VMs, rangeID }: Range): string => {
  const on = poweredOn(VMs)
  if (VMs.length === 0) return t.sentence.empty
  if (on === VMs.length) return t.sentence.allOn(on)
  if (on === 0) return t.sentence.allOff(VMs.length)
  const off = VMs.filter((machine) => !machine.poweredOn).map(({ name }) => shortName(rangeID, name))
  return t.sentence.someOff(on, VMs.length, off)
}

/** What a range is doing, in one sentence. `run`: the one in progress. */
export const rangeSentence = (range: Range, run: Run | undefined, now = new Date()): string => {
  const away = dateOf(range.awaySince)
  if (away !== undefined) return t.sentence.away(shortTime(away, now))
  if (run?.status === "running") {
    if (run.cancelRequested) return t.sentence.stopping(kindOf(run.kind))
    const { done, total, remaining } = run.progress
    const left = remaining === undefined ? "" : t.sentence.remaining(remaining)
    return run.waiting ?? `${t.sentence.progress(kindOf(run.kind), done, total)}${left}`
  }
  switch (range.rangeState) {
    case "NEVER DEPLOYED":
      return t.sentence.neverDeployed
    case "DEPLOYING":
      return t.sentence.working
    case "DESTROYING":
      return t.sentence.removing
    case "DESTROYED":
      return t.sentence.removed
    case "ERROR":
      return t.sentence.failed(powerText(range))
    case "ABORTED":
      return t.sentence.aborted(powerText(range))
    case "SUCCESS":
      return powerText(range)
  }
}

export const rangeTone = ({ rangeState, VMs, awaySince }: Range): Tone => {
  if (awaySince !== undefined) return "warn"
  switch (rangeState) {
    case "ERROR":
      return "bad"
    case "ABORTED":
      return "warn"
    case "DEPLOYING":
    case "DESTROYING":
      return "busy"
    case "SUCCESS":
      return poweredOn(VMs) > 0 ? "ok" : "quiet"
    case "NEVER DEPLOYED":
    case "DESTROYED":
      return "quiet"
  }
}

/** The word beside the colour; for a range that is ready it depends on the power of its machines. */
export const rangeWord = ({ rangeState, VMs }: Range): string => {
  if (rangeState !== "SUCCESS") return t.rangeState[rangeState]
  const on = poweredOn(VMs)
  return on === 0 ? "Off" : on === VMs.length ? "Running" : "Partly on"
}

/** Whether the range reaches the internet, as far as testing mode is concerned. `isChanging`: a run may be doing it now. */
export const testingText = ({ testingState }: Range, isChanging: boolean): string => {
  if (!isChanging && testingState === "entering") return t.testing.notEntered
  return !isChanging && testingState === "leaving" ? t.testing.notLeft : t.testing[testingState]
}

export const runTone = (status: Run["status"]): Tone =>
  ({ running: "busy", success: "ok", partial: "warn", failure: "bad", aborted: "quiet" })[status] as Tone
