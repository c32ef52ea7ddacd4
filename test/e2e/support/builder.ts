import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import type { Order, Word } from "../programs/build-templates.ts"
import { eventually } from "./eventually.ts"
import { repository } from "./program.ts"
import type { RealLab } from "./real-lab.ts"

/** A build of a template. */
export interface Build {
  readonly id: string
  readonly name: string
  readonly log: () => string
  /** The log once it matches; fails if the build ends before. */
  readonly says: (pattern: RegExp) => Promise<string>
  readonly abort: () => void
  readonly ended: Promise<"built" | "not built">
}

/** Builds templates on the lab's host, without a service around it. */
export interface Builder {
  readonly build: (template: string, name: string) => Build
  /** Removes the remains of a killed build. */
  readonly clear: (id: string) => Promise<"built" | "not built">
  readonly kill: () => Promise<void>
  /** Lets it end by itself. */
  readonly leave: () => void
}

let builds = 0

export const startBuilder = ({ simulator, place, data }: RealLab): Builder => {
  const { url, fingerprint, token } = simulator
  const [program = "", ...before] = place.launcher
  const file = join(repository, "test/e2e/programs/build-templates.ts")
  const child = spawn(program, [...before, process.execPath, file, JSON.stringify({ data, url, fingerprint, token })], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  const gone = new Promise<void>((resolve) => void child.once("close", () => resolve()))
  const logs = new Map<string, string>()
  const endings = new Map<string, PromiseWithResolvers<"built" | "not built">>()
  const over = new Set<string>()
  createInterface({ input: child.stdout }).on("line", (line) => {
    const word = JSON.parse(line) as Word
    logs.set(word.id, (logs.get(word.id) ?? "") + word.text)
    if (!("ended" in word)) return
    over.add(word.id)
    endings.get(word.id)?.resolve(word.ended)
  })
  const give = (order: Order): Promise<"built" | "not built"> => {
    const ending = Promise.withResolvers<"built" | "not built">()
    endings.set(order.id, ending)
    child.stdin.write(`${JSON.stringify(order)}\n`)
    return ending.promise
  }

  return {
    build: (template, name) => {
      const id = `run${String((builds += 1)).padStart(12, "0")}`
      const log = () => logs.get(id) ?? ""
      const folder = join(repository, "test/e2e/templates", template)
      const ended = give({ type: "build", id, folder, name })
      const says = (pattern: RegExp) =>
        eventually(
          `${String(pattern)} in the log`,
          async () => {
            const isOver = over.has(id)
            const text = log()
            if (isOver && !pattern.test(text)) throw new Error(`the build ended before ${String(pattern)}: ${text}`)
            return text
          },
          (text) => pattern.test(text) && text,
        )
      const abort = () => void child.stdin.write(`${JSON.stringify({ type: "abort", id } satisfies Order)}\n`)
      return { id, name, log, says, abort, ended }
    },
    clear: (id) => give({ type: "clear", id }),
    kill: async () => {
      child.kill("SIGKILL")
      await gone
    },
    leave: () => void child.stdin.end(),
  }
}

/** The processes of a build on its host, or of all builds, by PID and command line: they know its folder. */
export const processesOf = ({ data }: Pick<RealLab, "data">, id = ""): readonly (readonly [pid: number, line: string])[] =>
  readdirSync("/proc").flatMap((entry) => {
    try {
      const [line, environment] = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${entry}/${file}`, "utf8"))
      return line !== undefined && `${line}${environment}`.includes(`${data}/builds/${id}`)
        ? [[Number(entry), line] as const]
        : []
    } catch {
      return []
    }
  })
