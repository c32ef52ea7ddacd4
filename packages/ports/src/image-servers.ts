import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** What a server says of a file. */
export type ServerFile =
  /** `lastModified`: as the server writes it. */
  | { readonly state: "there"; readonly bytes: number | undefined; readonly lastModified: string | undefined }
  /** The server says that it has no such file. */
  | { readonly state: "gone"; readonly because: string }
  /** It cannot be told: the server is not reached, may not be asked, or says something else. */
  | { readonly state: "unknown"; readonly because: string }

/** A text, or why there is none. */
export type ServerText = { readonly state: "there"; readonly text: string } | Exclude<ServerFile, { readonly state: "there" }>

/** A file that came as a whole, or why it did not. */
export type ServerBytes = { readonly state: "there"; readonly bytes: number } | Exclude<ServerFile, { readonly state: "there" }>

/**
 * Public servers that images of discs are fetched from. Authors of templates choose the URLs: only public addresses are connected
 * to, also where a server redirects, and none of the service's or the hypervisor's.
 */
export class ImageServers extends Context.Service<
  ImageServers,
  {
    /** Asks for what is known of a file, not for the file. */
    readonly look: (url: string) => Effect.Effect<ServerFile>
    /** A text of at most a mebibyte; a longer one is `unknown`. */
    readonly read: (url: string) => Effect.Effect<ServerText>
    /**
     * A whole file, given on in parts as it comes, the next part when the one before was taken; one of more than `most` bytes is `unknown`. Takes as long as
     * something comes. What cannot be taken is `unknown`, too.
     */
    readonly fetch: (url: string, most: number, take: (part: Uint8Array) => Promise<void>) => Effect.Effect<ServerBytes>
  }
>()("rangewright/ImageServers") {}
