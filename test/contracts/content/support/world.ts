import { type ContentOptions, contentLayer } from "@rangewright/adapter-git"
import { parseNetwork } from "@rangewright/domain"
import { type Archives, type ContentFault, ContentFetcher, type FetchRequest, type Snapshot } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished } from "vitest"

export const loopback = [parseNetwork("127.0.0.0/8")].flatMap((network) => network ?? [])

export interface GitWorld {
  /** Everything of this test. */
  readonly root: string
  /** The fetcher's data. */
  readonly folder: string
  /** The folder of the served repositories. */
  readonly served: string
  readonly run: <A, E>(effect: Effect.Effect<A, E, ContentFetcher | Archives>, more?: Partial<ContentOptions>) => Promise<A>
  readonly fetch: (location: FetchRequest["location"], more?: Partial<ContentOptions>) => Promise<Snapshot>
  readonly fault: (location: FetchRequest["location"], more?: Partial<ContentOptions>) => Promise<ContentFault>
  /** No partial content and no secret is left. */
  readonly expectClean: () => void
}

/** A data folder and a folder for repositories; removed with the test. Every transport is allowed, to loopback only. */
export const gitWorld = (options: Partial<ContentOptions> = {}): GitWorld => {
  const root = mkdtempSync(join(tmpdir(), "content-"))
  const [folder, served] = [join(root, "data"), join(root, "served")]
  mkdirSync(served)
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const run: GitWorld["run"] = (effect, more = {}) =>
    Effect.runPromise(
      Effect.provide(
        effect,
        contentLayer({ folder, schemes: ["http", "ssh", "file"], networks: loopback, folders: [served], ...options, ...more }),
      ),
    )
  const fetched = (location: FetchRequest["location"]) =>
    ContentFetcher.use((fetcher) => fetcher.fetch({ location, holder: "test" }))
  return {
    root,
    folder,
    served,
    run,
    fetch: (location, more) => run(fetched(location), more),
    fault: (location, more) => run(Effect.flip(fetched(location)), more),
    expectClean: () => expect(readdirSync(join(folder, "scratch"))).toEqual([]),
  }
}

/** Writes this over the list of a snapshot's files, as a power loss may. */
export const damageListing = ({ folder }: GitWorld, { id }: Snapshot, text: string): void => {
  const file = join(folder, "snapshots", id, "files.json")
  // it is read-only
  rmSync(file)
  writeFileSync(file, text)
}

/** Of a file of a snapshot. */
export const textOf = (snapshot: Snapshot, path: string) =>
  ContentFetcher.use((fetcher) => Effect.map(fetcher.read(snapshot.id, path), (bytes) => Buffer.from(bytes).toString()))
