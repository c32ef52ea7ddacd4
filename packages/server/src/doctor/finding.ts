import type { Finding } from "@rangewright/application"

export type { Finding }

export const ok = (what: string, detail: string): Finding => ({ level: "ok", what, detail })
export const warn = (what: string, detail: string, hint: string): Finding => ({ level: "warn", what, detail, hint })
export const fail = (what: string, detail: string, hint: string): Finding => ({ level: "fail", what, detail, hint })

const marks = { ok: "ok  ", warn: "warn", fail: "FAIL" } as const

/** Findings name what others wrote, and a terminal obeys control characters. */
const printable = (text: string): string => text.replace(/\p{Cc}+/gu, " ")

/** One or two lines for each finding. */
export const renderFinding = ({ level, what, detail, hint }: Finding): string =>
  `${marks[level]}  ${printable(`${what}: ${detail}`)}${hint === undefined ? "" : `\n        -> ${printable(hint)}`}`
