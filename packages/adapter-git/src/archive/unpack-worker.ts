import { parentPort, workerData } from "node:worker_threads"
import { yieldToOthers } from "../own-priority.ts"
import { Refusal } from "../refusal.ts"
import { asDamage, readTar } from "./read-tar.ts"
import { readZip } from "./read-zip.ts"
import type { UnpackJob, UnpackMessage } from "./unpack-job.ts"
import { unpackedTree } from "./unpacked-tree.ts"

const filesATime = 100
const entriesATime = 1000

const tell = (message: UnpackMessage): void => parentPort?.postMessage(message)

const unpack = async ({ file, format, staged, limits, allowance, unwrap }: UnpackJob): Promise<void> => {
  const tree = unpackedTree(staged, limits, allowance, (done) => {
    if (done % filesATime === 0) tell({ type: "files", done })
  })
  await (format === "zip" ? readZip(file, tree) : readTar(file, format === "tar.gz", tree))
  const { entries, digest } = await tree.finish(unwrap)
  tell({ type: "files", done: entries.length })
  for (let at = 0; at < entries.length; at += entriesATime)
    tell({ type: "entries", entries: entries.slice(at, at + entriesATime) })
  tell({ type: "done", digest })
}

const failure = (cause: unknown): UnpackMessage => {
  if (cause instanceof Refusal) return { type: "refused", why: cause.why }
  const { message, code, syscall } = cause as NodeJS.ErrnoException
  return { type: "failed", message, ...(code === undefined ? {} : { code }), ...(syscall === undefined ? {} : { syscall }) }
}

yieldToOthers()
// the thread's entire program: it is started with one job and ends with it
await unpack(workerData as UnpackJob).catch((cause: unknown) => tell(failure(asDamage(cause))))
