/**
 * The cost of registering a git source relative to `git clone --depth 1` of the same local repository, alternating in one run (goal: at most
 * 1.5 times), and of a second sync without changes (goal: no file is read again). 5,000 files; 500 with the first argument `--quick`.
 */
import { contentLayer } from "@rangewright/adapter-git"
import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const roles = 100
const goal = 1.5

export interface FetchTiming {
  readonly files: number
  /** Milliseconds, median of the rounds. */
  readonly clone: number
  readonly fetch: number
  readonly again: number
  /** Median over the rounds of fetch / clone: both of a round run under the same load. */
  readonly ratio: number
  /** Files that the second syncs wrote or read. */
  readonly readAgain: number
}

const environment = { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" }
const git = (cwd: string, ...args: readonly string[]): void =>
  void execFileSync("git", ["-c", "user.name=Bench", "-c", "user.email=bench@lab.example", ...args], { cwd, env: environment })

/** A bare repository of small text files in folders, as roles have them. */
const makeRepository = (root: string, files: number): string => {
  const work = join(root, "work")
  for (let n = 0; n < files; n++) {
    const folder = join(work, "ansible", "roles", `role${n % roles}`, "tasks")
    mkdirSync(folder, { recursive: true })
    const task = (line: number) =>
      `- name: task ${line} of ${n}\n  ansible.builtin.debug:\n    msg: "${(n * 7919 + line) % 10_007}"\n`
    writeFileSync(join(folder, `${n}.yml`), Array.from({ length: 1 + (n % 30) }, (_, line) => task(line)).join(""))
  }
  git(work, "init", "-q", "-b", "main")
  git(work, "add", "-A")
  git(work, "commit", "-q", "-m", "files")
  const bare = join(root, "repository.git")
  git(root, "clone", "-q", "--bare", work, bare)
  return bare
}

const timed = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

export const timeFetch = async (files: number, rounds: number): Promise<FetchTiming> => {
  const root = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  try {
    const url = `file://${makeRepository(root, files)}`
    const times = { clone: [] as number[], fetch: [] as number[], again: [] as number[] }
    let readAgain = 0
    for (let round = 0; round < rounds; round++) {
      const layer = contentLayer({ folder: join(root, `data-${round}`), schemes: ["file"], folders: [root] })
      const fetch = (onFile: () => void) =>
        Effect.runPromise(
          ContentFetcher.use((fetcher) =>
            fetcher.fetch({
              location: { type: "git", url },
              holder: "bench",
              progress: ({ phase }) => Effect.sync(() => (phase === "writing" ? onFile() : undefined)),
            }),
          ).pipe(Effect.provide(layer)),
        )
      const clone = () => timed(() => git(root, "clone", "-q", "--depth", "1", url, join(root, `clone-${round}`)))
      const ours = () => timed(() => fetch(() => {}))
      // the first one finds cold disk caches, so they take turns in being first
      const turns: readonly (readonly [number[], () => Promise<number>])[] = [
        [times.clone, clone],
        [times.fetch, ours],
      ]
      for (const [list, work] of round % 2 === 0 ? turns : turns.toReversed()) list.push(await work())
      times.again.push(await timed(() => fetch(() => readAgain++)))
    }
    return {
      files,
      clone: median(times.clone),
      fetch: median(times.fetch),
      again: median(times.again),
      ratio: median(times.fetch.map((time, round) => time / (times.clone[round] ?? time))),
      readAgain,
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const quick = process.argv.includes("--quick")
  const { files, clone, fetch, again, ratio, readAgain } = await timeFetch(quick ? 500 : 5_000, quick ? 1 : 5)
  console.log(`${files} files: git clone --depth 1 ${clone.toFixed(0)} ms, registering ${fetch.toFixed(0)} ms`)
  console.log(`ratio ${ratio.toFixed(2)} (goal: at most ${goal}${ratio <= goal ? "" : ", MISSED"})`)
  console.log(
    `second sync with nothing new: ${again.toFixed(0)} ms, ${readAgain} files read again (goal: 0${readAgain === 0 ? "" : ", MISSED"})`,
  )
}
