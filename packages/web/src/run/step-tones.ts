import type { Step } from "@rangewright/application/wire"
import type { Tone } from "../parts/parts.tsx"

export const stepTones: Readonly<Record<Step["phase"], Tone>> = {
  planned: "quiet",
  started: "busy",
  dispatched: "busy",
  settled: "ok",
  failed: "bad",
  skipped: "quiet",
}
