import type { StatsFs } from "node:fs"

/**
 * When the disk is full, SQLite can still make small writes inside its existing files, so one such write proves little: with less than this
 * much free, a large one soon fails.
 */
const leastFreeBytes = 2 ** 20

/** Why the disk of a folder accepts no more data; undefined when it does. */
export const fullDisk = ({ bavail, bsize }: Pick<StatsFs, "bavail" | "bsize">, folder: string): string | undefined =>
  bavail * bsize < leastFreeBytes ? `the disk is full: less than 1 MiB is free for ${folder}` : undefined
