import type { StatsFs } from "node:fs"

/**
 * SQLite goes on with small writes inside the files it has when the disk is full, so that one write proves little: with less than this a
 * large one fails soon.
 */
const leastFreeBytes = 2 ** 20

/** Why the disk under a folder takes no more; undefined while it does. */
export const fullDisk = ({ bavail, bsize }: Pick<StatsFs, "bavail" | "bsize">, folder: string): string | undefined =>
  bavail * bsize < leastFreeBytes ? `the disk is full: less than 1 MiB is free for ${folder}` : undefined
