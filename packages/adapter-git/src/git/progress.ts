import { ContentFault, type ContentProgress } from "@rangewright/ports"
import type { Doing } from "../faults.ts"

/**
 * Parses git's progress lines. The remote reports the number of objects before sending them: too many end the fetch there. An error thrown
 * by the returned function becomes the fault.
 */
export const progressReader =
  (doing: Doing, item: string, mostObjects: number, report: (progress: ContentProgress) => void) =>
  (line: string): void => {
    const { done, total } = /^Receiving objects: +\d+% \((?<done>\d+)\/(?<total>\d+)\)/u.exec(line)?.groups ?? {}
    if (done === undefined || total === undefined) return
    if (Number(total) > mostObjects)
      throw new ContentFault({
        doing,
        reason: "too-large",
        rule: "objects",
        detail: `the repository has ${total} objects, more than ${mostObjects}`,
      })
    report({ phase: "receiving", item, done: Number(done), total: Number(total) })
  }
