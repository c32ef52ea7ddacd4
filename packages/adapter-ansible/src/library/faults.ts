import { ContentFault, LibraryFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { NotATree } from "./walk.ts"

const full = new Set(["ENOSPC", "EDQUOT", "EROFS"])

/** Whatever a promise of the library was rejected with: a fault as it is, a system error as one of this host. */
export const asLibraryFault =
  (doing: string) =>
  (cause: unknown): LibraryFault => {
    if (cause instanceof LibraryFault) return cause
    if (cause instanceof NotATree) return new LibraryFault({ doing, reason: "broken", detail: cause.message })
    const { code = "", message } = cause instanceof Error ? (cause as NodeJS.ErrnoException) : { message: String(cause) }
    return new LibraryFault({
      doing,
      reason: "unavailable",
      // without the path that the message ends with: it is this host's
      detail: message.replace(/, \w+ '.*$/su, "").slice(0, 400),
      ...(full.has(code) ? { hint: "Free space in the service's data folder, then try again." } : {}),
    })
  }

/** One step on the disk. An interruption waits for its end, so that nothing goes on behind the back of whoever cleans up. */
export const onDisk = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, LibraryFault> =>
  Effect.uninterruptible(Effect.tryPromise({ try: work, catch: asLibraryFault(doing) }))

/** A file of an installed artifact that could not be read. */
export const asContentFault =
  (doing: string, item: string) =>
  (cause: unknown): ContentFault =>
    new ContentFault({ doing, reason: "unavailable", item, detail: asLibraryFault(doing)(cause).facts.detail })
