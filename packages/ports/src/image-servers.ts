import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** A server's answer about a file. */
export type ServerFile =
  /** `lastModified`: as the server sends it. */
  | { readonly state: "there"; readonly bytes: number | undefined; readonly lastModified: string | undefined }
  /** The server reports that there is no such file. */
  | { readonly state: "gone"; readonly because: string }
  /** Unknown: the server cannot be reached, must not be asked, or gave some other answer. */
  | { readonly state: "unknown"; readonly because: string }

/** The text, or why there is none. */
export type ServerText = { readonly state: "there"; readonly text: string } | Exclude<ServerFile, { readonly state: "there" }>

/** A file that was received completely, or why it was not. */
export type ServerBytes = { readonly state: "there"; readonly bytes: number } | Exclude<ServerFile, { readonly state: "there" }>

/**
 * Public servers that disc images are fetched from. Template authors choose the URLs, so only public addresses are connected to, even after
 * a redirect, and none of the service's or the hypervisor's.
 */
export class ImageServers extends Context.Service<
  ImageServers,
  {
    /** Requests the file's metadata, not its content. */
    readonly look: (url: string) => Effect.Effect<ServerFile>
    /** A text of at most 1 MiB; a longer one is `unknown`. */
    readonly read: (url: string) => Effect.Effect<ServerText>
    /**
     * Streams a whole file: each part is passed to `take` after the previous one was taken. There is no time limit while data keeps
     * arriving. A file of more than `most` bytes is `unknown`, and so is one of which a part cannot be taken.
     */
    readonly fetch: (url: string, most: number, take: (part: Uint8Array) => Promise<void>) => Effect.Effect<ServerBytes>
  }
>()("rangewright/ImageServers") {}
