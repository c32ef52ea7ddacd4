import { ContentFault, type ContentProgress } from "@rangewright/ports"
import type { Doing } from "../faults.ts"

/**
 * Reads git's lines of progress. The remote tells the number of objects before it sends them: too many end the fetch there.
 * A throw of the returned function is the fault.
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
