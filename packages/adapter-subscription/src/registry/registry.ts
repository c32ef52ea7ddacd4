import type { Doing } from "../faults.ts"

/** A file of a registry, as it was found. */
export interface Found {
  readonly bytes: Buffer
  /** Tells this content from any other of the file, where the place has such a thing. */
  readonly etag: string | undefined
}

/** What to read. */
export interface Wanted {
  readonly doing: Doing
  /** Relative to the registry, made of our own words and package ids only. */
  readonly path: string
  /** The most bytes it may have. */
  readonly most: number
  readonly timeoutSeconds: number
  /** What is known already: `unchanged` when the file is still that. */
  readonly etag?: string | undefined
}

/** Where the files of a registry lie. Nothing that it gives is trusted for being there. */
export interface Registry {
  /** Names the registry in messages, which members read too. */
  readonly name: string
  /** Tells it from every other one: its state on disk is kept by it. */
  readonly place: string
  /** Rejected with a `SubscriptionFault`. */
  readonly read: (wanted: Wanted, signal: AbortSignal) => Promise<Found | "unchanged">
}

/** The one file that tells all others; it changes, they do not. */
export const indexPath = "index.json"
/** What is signed about a package. */
export const statementPath = (packageId: string): string => `packages/${packageId}.json`
export const packagePath = (packageId: string): string => `packages/${packageId}.tar.gz`
