import { type BuilderFacts, longestText } from "@rangewright/domain"
import { createHash } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import type { ResourceLimits, Worker } from "node:worker_threads"
import { startThread } from "../thread.ts"

export interface BuilderText {
  readonly path: string
  readonly text: string
}

/** Heap limits of the thread, and its CPU time for one file: many times what real files need. */
const memory = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 8, stackSizeMb: 2 }
const cpuMillis = 2000
const lookEveryMillis = 50
/** The thread ends after being idle for this long. */
const idleMillis = 10_000
/** Number of files whose facts are cached: more than the largest source has. */
const mostKept = 1000

const saysNothing: BuilderFacts = { name: undefined, description: undefined, os: undefined, icon: undefined, declares: new Set() }

const digestOf = ({ path, text }: BuilderText): string =>
  createHash("sha256")
    .update(path.endsWith(".json") ? "json" : "hcl")
    .update("\n")
    .update(text)
    .digest("base64")

/** The thread's answer; undefined when it ended or took too long. */
const ask = async (thread: Worker, job: BuilderText): Promise<BuilderFacts | undefined> => {
  const answer = Promise.withResolvers<BuilderFacts | undefined>()
  const end = () => answer.resolve(undefined)
  const over = new AbortController()
  const watch = async (): Promise<void> => {
    const spent = async () => {
      const { user, system } = await thread.cpuUsage()
      return (user + system) / 1000
    }
    const before = await spent()
    while ((await spent()) - before < cpuMillis) await pause(lookEveryMillis, undefined, { signal: over.signal })
    end()
  }
  thread.once("message", answer.resolve).once("error", end).once("exit", end)
  thread.postMessage(job)
  // it may have ended meanwhile
  watch().catch(() => {})
  try {
    return await answer.promise
  } finally {
    over.abort()
    thread.off("message", answer.resolve).off("error", end).off("exit", end)
  }
}

const startReader = (resourceLimits: ResourceLimits): Worker => startThread(import.meta.url, "read-worker", { resourceLimits })

/**
 * Reads builder files in a thread of its own, one after the other; the thread is terminated when a file takes too much CPU time or memory.
 * Results are cached by content.
 */
export const builderReader = (start = startReader): ((path: string, text: string) => Promise<BuilderFacts>) => {
  const known = new Map<string, Promise<BuilderFacts>>()
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()

  const leave = async (): Promise<void> => {
    const ended = thread
    thread = undefined
    await ended?.terminate()
  }
  const readApart = async (job: BuilderText): Promise<BuilderFacts> => {
    clearTimeout(idle)
    if (thread === undefined) {
      thread = start(memory)
      thread.unref()
      // stays attached, for errors while nobody waits for an answer
      thread.on("error", () => {})
    }
    const facts = await ask(thread, job)
    if (facts === undefined) await leave()
    else idle = setTimeout(() => void leave(), idleMillis).unref()
    return facts ?? saysNothing
  }

  return (path, text) => {
    if (text.length > longestText) return Promise.resolve(saysNothing)
    const job = { path, text }
    const digest = digestOf(job)
    const before = known.get(digest)
    const read = before ?? last.then(() => readApart(job))
    if (before === undefined) last = read
    // evicts the least recently used first
    known.delete(digest)
    known.set(digest, read)
    for (const oldest of known.keys()) if (known.size > mostKept) known.delete(oldest)
    return read
  }
}
