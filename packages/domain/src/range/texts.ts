import type { FaultIssue } from "../fault/fault.ts"

const longest = { name: 255, description: 5000, purpose: 5000 } as const

/** The texts that people give a range. */
export type RangeTexts = { readonly [K in keyof typeof longest]?: string }

const names = Object.keys(longest) as readonly (keyof RangeTexts)[]

/** Problems of these texts: an empty name, a text that is too long. Absent texts are not checked. */
export const rangeTextProblems = (texts: RangeTexts): readonly FaultIssue[] =>
  names.flatMap((path) => {
    const text = texts[path]
    if (text === undefined) return []
    if (path === "name" && text.trim() === "") return [{ path, message: "a name is needed" }]
    return text.length > longest[path] ? [{ path, message: `at most ${longest[path]} characters` }] : []
  })
