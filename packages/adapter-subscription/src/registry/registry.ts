import type { Doing } from "../faults.ts"

/** A file as read from a registry. */
export interface Found {
  readonly bytes: Buffer
  /** Identifies this content of the file, if the registry supports it. */
  readonly etag: string | undefined
}

export interface Wanted {
  readonly doing: Doing
  /** Relative to the registry; consists only of our own words and package ids. */
  readonly path: string
  /** Size limit in bytes. */
  readonly most: number
  readonly timeoutSeconds: number
  /** The etag already known: the result is `unchanged` if the file still has it. */
  readonly etag?: string | undefined
}

/** Access to the files of a registry. None of them is trusted because of where it comes from. */
export interface Registry {
  /** Name of the registry in messages, which members read too. */
  readonly name: string
  /** Identifies the registry: its state on disk is stored by this. */
  readonly place: string
  /** Rejects with a `SubscriptionFault`. */
  readonly read: (wanted: Wanted, signal: AbortSignal) => Promise<Found | "unchanged">
}

/** The one file that lists all others; it changes, they do not. */
export const indexPath = "index.json"
/** Path of the signed statement about a package. */
export const statementPath = (packageId: string): string => `packages/${packageId}.json`
export const packagePath = (packageId: string): string => `packages/${packageId}.tar.gz`
