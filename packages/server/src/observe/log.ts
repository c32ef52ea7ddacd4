import { shownText } from "@rangewright/domain"
import { type LogFn, type Logger, pino } from "pino"
import * as Cause from "effect/Cause"
import * as EffectLogger from "effect/Logger"
import type * as Layer from "effect/Layer"
import { withoutSecrets } from "./without-secrets.ts"

export type Log = Logger

const colours = { debug: 90, info: 36, warn: 33, error: 31 } as const
const labels = new Map<number, keyof typeof colours>([
  [20, "debug"],
  [30, "info"],
  [40, "warn"],
  [50, "error"],
])

/** Much of a log is what others wrote: a line break in it must not begin a line that looks like the log's own, nor steer a terminal. */
const safe = (text: string): string => shownText(text).replaceAll(/\r\n?|[\n\u2028\u2029]/gu, "\n    ")

/** Formats a log line for people: time, level, message, then the facts as `key=value`. */
const forPeople = (line: string): string => {
  const { time, level, msg, ...facts } = JSON.parse(line) as { time: number; level: number; msg?: string } & Record<
    string,
    unknown
  >
  const label = labels.get(level) ?? "info"
  const rest = Object.entries(facts)
    .map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .map(safe)
    .join("")
  return `${new Date(time).toISOString().slice(11, 19)} \u001b[${colours[label]}m${label.padEnd(5)}\u001b[0m ${safe(msg ?? "")}\u001b[90m${rest}\u001b[0m\n`
}

/** Logs the text alone when pino, which reads some facts before they are formatted, cannot read them. */
function logAnything(this: Log, given: Parameters<LogFn>, write: LogFn): void {
  try {
    write.apply(this, given)
  } catch {
    write.call(this, { unloggable: true }, given.filter((one) => typeof one === "string").join(" "))
  }
}

/** The service's log on standard error, one line for each event; standard output is left to commands. */
export const makeLog = (options: { readonly level: string; readonly format: "auto" | "json" | "text" }): Log => {
  const text = options.format === "text" || (options.format === "auto" && process.stderr.isTTY)
  const settings = {
    level: options.level,
    base: null,
    formatters: { log: (facts: object) => withoutSecrets(facts) as Record<string, unknown> },
    // errors are plain facts by then
    serializers: { err: (shown: unknown) => shown },
    hooks: { logMethod: logAnything },
  }
  return text
    ? pino(settings, { write: (line: string) => void process.stderr.write(forPeople(line)) })
    : pino(settings, pino.destination({ fd: 2, sync: true }))
}

const told = (cause: Cause.Cause<unknown>): object => {
  try {
    return { cause: Cause.pretty(cause) }
  } catch {
    return { cause: { unloggable: true } }
  }
}

/** Sends Effect's log calls to the same log. */
export const effectLog = (log: Log): Layer.Layer<never> =>
  EffectLogger.layer([
    EffectLogger.make(({ logLevel, message, cause }) => {
      const words = Array.isArray(message) ? message : [message]
      const facts = words
        .filter((w) => typeof w === "object")
        .map((w) => withoutSecrets(w instanceof Error ? { err: w } : w) as object)
      const line = words
        .filter((w) => typeof w !== "object")
        .map(String)
        .join(" ")
      const fields = Object.assign({}, ...facts, cause.reasons.length > 0 ? told(cause) : {}) as object
      if (logLevel === "Error" || logLevel === "Fatal") log.error(fields, line)
      else if (logLevel === "Warn") log.warn(fields, line)
      else if (logLevel === "Info") log.info(fields, line)
      else log.debug(fields, line)
    }),
  ])
