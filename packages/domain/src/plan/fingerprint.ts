import type { Json } from "./action.ts"
import type { Plan } from "./plan.ts"
import { maskAction } from "./secrets.ts"

/**
 * A short text that is the same for the same input of a stage, whatever the order of its keys; a deploy uses it to see that a stage has
 * already run with exactly this input. 128 bits, enough against accidental collisions; it is not cryptographic.
 */
export const stageFingerprint = (input: Json): string => {
  const text = canonical(input)
  return lanes.map((lane) => hash(text, lane).toString(16).padStart(8, "0")).join("")
}

/**
 * The fingerprint of what a plan does: equal for plans that do the same to the same objects, whatever their estimates and notes. Secrets
 * are left out, so that nobody can check guesses against it.
 */
export const planFingerprint = ({ steps, changes, kept = [] }: Plan): string =>
  stageFingerprint(
    JSON.parse(
      JSON.stringify({
        steps: steps.map(({ key, action, after }) => ({ key, action: maskAction(action), after })),
        changes,
        kept,
      }),
    ) as Json,
  )

/** JSON with sorted keys. */
const canonical = (value: Json): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonical).join(",")}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)

/** Start and odd multiplier of each of the four lanes. */
const lanes = [
  [0x811c9dc5, 0x01000193],
  [0x9e3779b9, 0x85ebca6b],
  [0x27d4eb2f, 0xc2b2ae35],
  [0x165667b1, 0x9e3779b1],
] as const

/** Multiplies and mixes over UTF-16 units, then once more so that every bit of the text affects every bit of the result. */
const hash = (text: string, [start, multiplier]: readonly [number, number]): number => {
  let h = start
  for (let i = 0; i < text.length; i++) {
    h = Math.imul(h ^ text.charCodeAt(i), multiplier)
    h ^= h >>> 15
  }
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
