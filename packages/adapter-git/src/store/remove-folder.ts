import { once } from "node:events"
import { rmdir } from "node:fs/promises"
import { startThread } from "../thread.ts"

/** Removes a folder with its content, possibly tens of thousands of files, outside the main thread. */
export const removeFolder = async (folder: string): Promise<void> => {
  const empty = await rmdir(folder).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code === "ENOENT",
  )
  if (!empty) await once(startThread(import.meta.url, "remove-worker", { workerData: folder }), "exit")
}
