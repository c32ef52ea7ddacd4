import { type GroupNotice, type Range, rangeOf, type RunId } from "@rangewright/domain"
import { Groups, Ranges, type RangeMachine, RunJournal, type RunRecord } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { About } from "./topics.ts"

/** The state of one thing that a stream reports on. */
export type Seen =
  | { readonly kind: "range"; readonly range: Range }
  | { readonly kind: "machine"; readonly machine: RangeMachine }
  | { readonly kind: "run"; readonly run: RunRecord }
  | { readonly kind: "notice"; readonly notice: GroupNotice }

/** Things by a key, with a text that differs when their events would. */
type Things = ReadonlyMap<string, { readonly seen: Seen; readonly text: string }>

/** A snapshot of everything. */
export interface Picture {
  readonly runs: Things
  /** Ranges, machines and notices: the same object while none of them has changed. */
  readonly others: Things
}

/** A change of one thing; `now` is undefined when it is gone. */
export interface Change {
  readonly key: string
  readonly before: Seen | undefined
  readonly now: Seen | undefined
}

export const aboutOf = (seen: Seen): About =>
  seen.kind === "notice"
    ? { kind: "notice", rangeId: undefined, runId: undefined }
    : seen.kind === "range"
      ? { kind: "range", rangeId: seen.range.id, runId: undefined }
      : seen.kind === "machine"
        ? { kind: "machine", rangeId: seen.machine.rangeId, runId: undefined }
        : { kind: "run", rangeId: rangeOf(seen.run), runId: seen.run.id }

const textOf = (seen: Seen): string => {
  switch (seen.kind) {
    case "range":
      return JSON.stringify([seen.range.number, seen.range.name, seen.range.state])
    case "machine":
      // includes members that are not sent: they may make a range differ from its configuration
      return JSON.stringify(seen.machine)
    case "run":
      return JSON.stringify([seen.run.status, seen.run.lastSeq, seen.run.endedAt])
    case "notice":
      return JSON.stringify(seen.notice)
  }
}

const keyOf = (seen: Seen): string =>
  seen.kind === "range"
    ? `range ${seen.range.id}`
    : seen.kind === "machine"
      ? `machine ${seen.machine.vmid}`
      : seen.kind === "notice"
        ? `notice ${seen.notice.group}`
        : `run ${seen.run.id}`

const thingsOf = (all: readonly Seen[]): Things => new Map(all.map((seen) => [keyOf(seen), { seen, text: textOf(seen) }]))

/** The number of newest runs that are checked; unfinished ones always are. */
const newest = 50

/** Takes snapshots of everything in one store: what has not changed is not read again. */
export const makeLook = Effect.gen(function* () {
  const ranges = yield* Ranges
  const journal = yield* RunJournal
  const groups = yield* Groups
  let revision: number | undefined
  let others: Things = new Map()
  let going = new Set<RunId>()

  const lookAtOthers = Effect.gen(function* () {
    // read first: what changes during the reads below is read again the next time
    const current = yield* ranges.revision
    if (current === revision) return
    const overviews = yield* ranges.overview({})
    const notices = yield* groups.notices()
    others = thingsOf([
      ...overviews.flatMap(({ range, machines }): Seen[] => [
        { kind: "range", range },
        ...machines.filter(({ template }) => !template).map((machine): Seen => ({ kind: "machine", machine })),
      ]),
      ...notices.map((notice): Seen => ({ kind: "notice", notice })),
    ])
    revision = current
  })

  const lookAtRuns = Effect.gen(function* () {
    const runs = new Map((yield* journal.list({ limit: newest })).map((run) => [run.id, run]))
    const unfinished = yield* journal.recoverable
    for (const run of unfinished) runs.set(run.id, run)
    // runs that ended since the last time and are too old for the list
    for (const id of going)
      if (!runs.has(id)) {
        const ended = yield* journal.find(id)
        if (ended !== undefined) runs.set(id, ended)
      }
    going = new Set(unfinished.map(({ id }) => id))
    return thingsOf([...runs.values()].map((run) => ({ kind: "run", run })))
  })

  return Effect.gen(function* () {
    yield* lookAtOthers
    const runs = yield* lookAtRuns
    return { runs, others } satisfies Picture
  })
})

/** The differences between two snapshots. A run that is no longer checked does not count as gone. */
export const changesOf = (before: Picture, now: Picture): readonly Change[] => {
  if (before.others === now.others) return changed(before.runs, now.runs)
  const gone = [...before.others].flatMap(([key, { seen }]): Change[] =>
    now.others.has(key) ? [] : [{ key, before: seen, now: undefined }],
  )
  return [...changed(before.others, now.others), ...changed(before.runs, now.runs), ...gone]
}

/** The things that are new or differ. */
const changed = (before: Things, now: Things): readonly Change[] =>
  [...now].flatMap(([key, { seen, text }]): Change[] => {
    const known = before.get(key)
    return known?.text === text ? [] : [{ key, before: known?.seen, now: seen }]
  })
