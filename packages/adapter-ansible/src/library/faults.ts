import { ContentFault, LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { NotATree } from "./walk.ts"

const full = new Set(["ENOSPC", "EDQUOT", "EROFS"])

/** Converts a rejection in the library into a fault: a fault as it is, a system error as a failure of this host. */
export const asLibraryFault =
  (doing: string) =>
  (cause: unknown): LibraryFault => {
    if (cause instanceof LibraryFault) return cause
    if (cause instanceof NotATree) return new LibraryFault({ doing, reason: "broken", detail: cause.message })
    const { code = "", message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: String(cause) }
    return new LibraryFault({
      doing,
      reason: "unavailable",
      // without the path at the end of the message, which is internal to this host
      detail: message.replace(/, \w+ '.*$/su, "").slice(0, 400),
      ...(full.has(code) ? { hint: "Free space in the service's data folder, then try again." } : {}),
    })
  }

/** One step on the disk. An interruption waits for its end, so that nothing still runs during the cleanup. */
export const onDisk = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, LibraryFault> =>
  Effect.uninterruptible(Effect.tryPromise({ try: work, catch: asLibraryFault(doing) }))

/** The fault of an installed artifact's file that could not be read. */
export const asContentFault =
  (doing: string, item: string) =>
  (cause: unknown): ContentFault =>
    new ContentFault({ doing, reason: "unavailable", item, detail: asLibraryFault(doing)(cause).facts.detail })
