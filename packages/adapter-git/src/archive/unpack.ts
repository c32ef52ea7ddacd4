import type { TreeEntry } from "@rangewright/domain"
import { stat } from "node:fs/promises"
import { Refusal, tooLarge } from "../refusal.ts"
import type { FinishedTree } from "../store/tree-account.ts"
import { startThread } from "../thread.ts"
import type { UnpackJob, UnpackMessage } from "./unpack-job.ts"

const mebibyte = 1024 * 1024
/** Heap limits for one archive; content is streamed in a few chunks. */
const memory = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 2 }
/** CPU time for one archive: the minimum, or an amount for each MiB of a large one. */
const cpuMillis = { least: 1200, perMebibyte: 200 }
const lookEveryMillis = 50
/** Legitimate archives can hit the limit too, with thousands of files on a slow host. */
const wayOut = "Send fewer files and folders at once; a source can be a git repository instead."

export const cpuLimitOf = (archiveBytes: number): number =>
  Math.max(cpuMillis.least, (archiveBytes / mebibyte) * cpuMillis.perMebibyte)

const outOfMemory = "ERR_WORKER_OUT_OF_MEMORY"

/**
 * Unpacks an archive in a thread of its own, which is terminated when it takes too much CPU time or memory, or is no longer wanted. Nothing
 * continues after the promise settles. Rejects with a `Refusal`, a failure of the host, or the signal's reason.
 */
export const unpack = async (job: UnpackJob, onFiles: (done: number) => void, signal: AbortSignal): Promise<FinishedTree> => {
  signal.throwIfAborted()
  const limit = cpuLimitOf((await stat(job.file)).size)
  const thread = startThread(import.meta.url, "unpack-worker", { workerData: job, resourceLimits: memory })
  const entries: TreeEntry[] = []
  const outcome = Promise.withResolvers<FinishedTree>()
  thread.on("message", (message: UnpackMessage) => {
    switch (message.type) {
      case "files":
        return onFiles(message.done)
      case "entries":
        return void entries.push(...message.entries)
      case "done":
        return outcome.resolve({ entries, digest: message.digest })
      case "refused":
        return outcome.reject(new Refusal(message.why))
      case "failed":
        return outcome.reject(Object.assign(new Error(message.message), message))
    }
  })
  thread.on("error", (cause: NodeJS.ErrnoException) =>
    outcome.reject(
      cause.code === outOfMemory
        ? tooLarge("memory", `reading it takes more than ${memory.maxOldGenerationSizeMb} MiB of memory`)
        : cause,
    ),
  )
  thread.on("exit", () => outcome.reject(new Error("the thread that unpacks ended early")))
  const watch = setInterval(() => {
    void thread.cpuUsage().then(
      ({ user, system }) => {
        if ((user + system) / 1000 > limit)
          outcome.reject(tooLarge("processor", `reading it takes more than ${limit / 1000} s of processor time`, wayOut))
      },
      // it has already ended
      () => {},
    )
  }, lookEveryMillis)
  const leave = () => outcome.reject(signal.reason)
  signal.addEventListener("abort", leave)
  try {
    return await outcome.promise
  } finally {
    clearInterval(watch)
    signal.removeEventListener("abort", leave)
    await thread.terminate()
  }
}
