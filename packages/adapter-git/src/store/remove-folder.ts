import { once } from "node:events"
import { rmdir } from "node:fs/promises"
import { startThread } from "../thread.ts"

/** Removes a folder with all that is in it, which can be ten thousands of files: not by the thread that serves. */
export const removeFolder = async (folder: string): Promise<void> => {
  const empty = await rmdir(folder).then(
    () => true,
    (cause: NodeJS.ErrnoException) => cause.code === "ENOENT",
  )
  if (!empty) await once(startThread(import.meta.url, "remove-worker", { workerData: folder }), "exit")
}
