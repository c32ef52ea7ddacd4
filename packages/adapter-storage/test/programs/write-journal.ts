// usage: write-journal.ts <sqlite file> <run id>: appends to the run's journal for ever, and prints each number that was acknowledged
import type { RunId } from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { storageLayer } from "../../src/index.ts"

const [file = "", runId = ""] = process.argv.slice(2)
const program = Effect.gen(function* () {
  const journal = yield* RunJournal
  for (;;) {
    const events = [
      { type: "Output", key: "k", text: "x".repeat(500) },
      { type: "Waiting", reason: "" },
    ] as const
    const written = yield* journal.append(runId as RunId, 0, events, new Date())
    process.stdout.write(`${written.at(-1)?.seq}\n`)
  }
})
await Effect.runPromise(Effect.provide(program, storageLayer({ file })))
