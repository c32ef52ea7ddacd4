import { CallerGone, eventsOfStream, operation, type Operation } from "@rangewright/application"
import { Conflict } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { readFile, stat } from "node:fs/promises"

const statuses = {
  200: "done",
  400: "bad",
  401: "nobody",
  403: "not yours",
  404: "unknown",
  409: "conflict",
  500: "broken",
} as const
const group = "Range"
const summary = "sample"
const does = "try a sample"
const Text = Schema.Struct({ result: Schema.String })
const seen = (user: { readonly id: string }, range: { readonly id: string } | undefined) =>
  Effect.succeed({ result: `${user.id} ${range?.id ?? "-"}` })

export const getIndex = operation({
  id: "index",
  route: "GET /",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ user, range }) => seen(user, range),
})

export const getRange = operation({
  id: "getRange",
  route: "GET /range",
  group,
  does,
  summary,
  access: "range-access",
  target: "range",
  output: { type: "prepared-json", schema: Text },
  statuses,
  handle: ({ user, range }) => Effect.succeed(JSON.stringify({ result: `${user.id} ${range.id}` })),
})

/** Every byte there is, `rounds` times. */
export const getBytes = operation({
  id: "getBytes",
  route: "GET /bytes/{rounds}",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  path: { rounds: Schema.NumberFromString },
  output: { type: "binary", contentType: "application/octet-stream" },
  statuses,
  handle: ({ path }) =>
    Effect.succeed({
      contentType: "application/octet-stream",
      bytes: Uint8Array.from({ length: 256 * path.rounds }, (_, i) => i % 256),
    }),
})

export const deleteRange = operation({
  id: "deleteRange",
  route: "DELETE /range",
  group,
  does,
  summary,
  access: "range-access",
  target: "range",
  query: { force: Schema.optionalKey(Schema.Literals(["true", "false"])) },
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ user, range, query }) => Effect.succeed({ result: `${user.id} ${range.id} ${query.force ?? "unset"}` }),
})

/** The same, without anything that could be decoded. */
export const deletePlainRange = operation({
  id: "deletePlainRange",
  route: "DELETE /plain-range",
  group,
  does,
  summary,
  access: "range-access",
  target: "range",
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ user, range }) => seen(user, range),
})

export const ownRange = operation({
  id: "ownRange",
  route: "POST /ranges/{rangeID}/own",
  group,
  does,
  summary,
  access: "range-owner",
  target: "range-in-path",
  output: { type: "json", schema: Text, status: 201 },
  statuses: { 201: "owned", 400: "bad", 401: "nobody", 403: "not yours", 404: "unknown", 500: "broken" },
  handle: ({ user, range }) => seen(user, range),
})

export const listEverything = operation({
  id: "listEverything",
  route: "GET /user/all",
  group,
  does,
  summary,
  access: "admin",
  target: "none",
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ user, range }) => seen(user, range),
})

export const addThing = operation({
  id: "addThing",
  route: "POST /user",
  group,
  does,
  summary,
  access: "admin",
  target: "none",
  output: { type: "json", schema: Text },
  statuses: { 200: "done", 400: "bad", 401: "nobody or no administrator", 403: undefined, 500: "broken" },
  handle: ({ user, range }) => seen(user, range),
})

export const paidThing = operation({
  id: "paidThing",
  route: "GET /paid",
  group,
  does,
  summary,
  access: "user",
  tier: "enterprise",
  target: "none",
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ user, range }) => seen(user, range),
})

const Body = Schema.Struct({
  machines: Schema.optionalKey(Schema.Array(Schema.String)),
  vmids: Schema.optionalKey(Schema.Array(Schema.Int)),
  options: Schema.optionalKey(Schema.Struct({ onlyRoles: Schema.optionalKey(Schema.Array(Schema.String)) })),
  variables: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
})

/** Answers with the body as it was decoded. */
export const echo = operation({
  id: "echo",
  route: "PUT /echo",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  body: { type: "json", required: false, schema: Body, maxBytes: 4096 },
  output: { type: "json", schema: Schema.Struct({ body: Schema.Json }) },
  statuses: { ...statuses, 413: "too large" },
  handle: ({ body }) => Effect.succeed({ body: (body ?? null) as Schema.Json }),
})

export const needsBody = operation({
  id: "needsBody",
  route: "DELETE /echo",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  body: { type: "json", required: true, schema: Schema.Struct({ name: Schema.String }) },
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ body }) => Effect.succeed({ result: body.name }),
})

export const upload = operation({
  id: "upload",
  route: "PUT /upload",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  body: {
    type: "multipart",
    fields: { force: Schema.optionalKey(Schema.Literals(["true", "false"])) },
    file: "file",
    maxBytes: 100_000,
  },
  output: { type: "json", schema: Schema.Struct({ name: Schema.String, size: Schema.Int, force: Schema.String }) },
  statuses: { ...statuses, 413: "too large" },
  handle: ({ body, file }) => Effect.succeed({ name: file.filename, size: file.bytes.length, force: body.force ?? "unset" }),
})

export const getThing = operation({
  id: "getThing",
  route: "GET /things/{name}",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  path: { name: Schema.String },
  query: { n: Schema.optionalKey(Schema.FiniteFromString) },
  output: { type: "text", contentType: "text/plain; charset=utf-8" },
  statuses,
  handle: ({ path, query }) => Effect.succeed(`thing ${path.name} ${query.n ?? "-"}`),
})

export const getExample = operation({
  id: "getExample",
  route: "GET /things/example",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  output: { type: "zip", filename: "things.zip" },
  statuses,
  handle: () => Effect.succeed([{ name: "a.rdp", content: "full address:s:10.2.10.11" }]),
})

export const packs = operation({
  id: "packs",
  route: "GET /packs",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  output: { type: "json-or-zip", schema: Text, name: "words" },
  statuses,
  handle: () => Effect.succeed({ result: "a" }),
})

export const saves = operation({
  id: "saves",
  route: "GET /saves",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  query: { as: Schema.optionalKey(Schema.String) },
  output: { type: "json-or-file", schema: Text, contentType: "application/x-yaml" },
  statuses,
  handle: ({ query: { as } }) =>
    Effect.succeed(as === undefined ? { json: { result: "a: 1" } } : { file: { name: as, ending: ".yml", text: "a: 1\r\n" } }),
})

export const describes = operation({
  id: "describes",
  route: "PATCH /describes",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  body: {
    type: "json-or-multipart",
    required: true,
    schema: Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      tags: Schema.optionalKey(Schema.Array(Schema.String)),
      count: Schema.optionalKey(Schema.Int),
      shown: Schema.optionalKey(Schema.Boolean),
    }),
    file: "picture",
    maxBytes: 1000,
    emptyTexts: true,
  },
  output: { type: "json", schema: Schema.Record(Schema.String, Schema.Unknown) },
  statuses,
  handle: ({ body, file }) =>
    Effect.succeed({ body, file: file === undefined ? null : { name: file.filename, size: file.bytes.length } }),
})

export const keeps = operation({
  id: "keeps",
  route: "PUT /keeps",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  body: {
    type: "multipart",
    fields: { how: Schema.optionalKey(Schema.String) },
    file: "file",
    maxBytes: 1_000_000,
    stored: true,
  },
  output: { type: "json", schema: Schema.Record(Schema.String, Schema.Unknown) },
  statuses,
  handle: ({ body, file }) =>
    Effect.gen(function* () {
      const bytes = yield* Effect.promise(() => readFile(file.path))
      const { mode } = yield* Effect.promise(() => stat(file.path))
      if (body.how === "fault") return yield* Effect.fail(new Conflict({ what: file.path }))
      return { name: file.filename, size: file.size, path: file.path, mode: mode & 0o777, text: bytes.toString("latin1") }
    }),
})

export const breaks = operation({
  id: "breaks",
  route: "GET /breaks/{how}",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  path: { how: Schema.Literals(["fault", "throw", "shape"]) },
  output: { type: "json", schema: Text },
  statuses,
  handle: ({ path }) => {
    if (path.how === "fault") return Effect.fail(new Conflict({ what: "Cannot do it: it is done", hint: "Undo it first." }))
    if (path.how === "throw") return Effect.die(new Error("the secret of the house"))
    return Effect.succeed({ result: 5 as unknown as string })
  },
})

export const recordLogin = operation({
  id: "recordLogin",
  route: "POST /api/collections/users/auth-with-password",
  base: "/",
  group,
  does,
  summary,
  access: "anonymous",
  target: "none",
  body: { type: "json", required: true, schema: Schema.Struct({ identity: Schema.String }) },
  output: { type: "json", schema: Text },
  statuses: { 200: "done", 400: "bad" },
  handle: ({ body, caller }) => Effect.succeed({ result: `${body.identity} ${caller?.id ?? "nobody"}` }),
})

/** A GET that changes something, as the key rotation is. */
export const rotate = operation({
  id: "rotate",
  route: "GET /user/rotate",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  mutates: true,
  output: { type: "json", schema: Text, status: 201 },
  statuses: { 201: "rotated", 401: "nobody", 500: "broken" },
  handle: ({ user, range }) => seen(user, range),
})

/** Numbered events after `Last-Event-ID`; `n` of them, then the end, a failure, or an endless wait. */
export const events = operation({
  id: "events",
  route: "GET /events/{end}",
  group,
  does,
  summary,
  access: "user",
  target: "none",
  path: { end: Schema.Literals(["ends", "fails", "waits", "floods"]) },
  output: { type: "events", schema: Schema.Struct({ n: Schema.Int, pad: Schema.optionalKey(Schema.String) }) },
  statuses,
  handle: ({ path, meta }) => {
    const first = Number(meta.lastEventId ?? 0) + 1
    const event = (n: number) => ({ id: String(n), event: "step", data: { n } })
    const some = Stream.map(Stream.range(first, 3), event)
    switch (path.end) {
      case "ends":
        return Effect.succeed(eventsOfStream(some))
      case "fails":
        return Effect.succeed(
          eventsOfStream(Stream.concat(some, Stream.fail(new Conflict({ what: "Cannot go on: it is over" })))),
        )
      case "waits":
        return Effect.succeed(eventsOfStream(Stream.concat(some, Stream.never)))
      case "floods":
        return Effect.succeed(
          eventsOfStream(Stream.map(Stream.range(1, 100_000), (n) => ({ ...event(n), data: { n, pad: "x".repeat(4096) } }))),
        )
    }
  },
})

/** An operation that waits until the test lets it go, and tells whether it was interrupted. */
export const gated = (method: "GET" | "POST") => {
  const entered = Deferred.makeUnsafe<void>()
  const gate = Deferred.makeUnsafe<void>()
  const ended = Deferred.makeUnsafe<"finished" | "interrupted">()
  const declared: Operation = operation({
    id: `gated${method}`,
    route: `${method} /gated`,
    group,
    does,
    summary,
    access: "user",
    target: "none",
    output: { type: "json", schema: Text },
    statuses,
    handle: () =>
      Deferred.succeed(entered, undefined).pipe(
        Effect.andThen(Deferred.await(gate)),
        Effect.andThen(Deferred.succeed(ended, "finished")),
        Effect.onInterrupt(() => Deferred.succeed(ended, "interrupted")),
        Effect.as({ result: "done" }),
      ),
  })
  return {
    operation: declared,
    entered: Effect.runPromise(Deferred.await(entered)),
    open: () => Effect.runSync(Deferred.succeed(gate, undefined)),
    ended: Effect.runPromise(Deferred.await(ended)),
  }
}

/** A change that waits for its turn for ever, unless nobody waits for it. */
export const waiting = () => {
  const entered = Deferred.makeUnsafe<void>()
  const ended = Deferred.makeUnsafe<"cut short">()
  const declared: Operation = operation({
    id: "waiting",
    route: "POST /waiting",
    group,
    does,
    summary,
    access: "user",
    target: "none",
    output: { type: "json", schema: Text },
    statuses,
    handle: () =>
      Effect.gen(function* () {
        yield* Deferred.succeed(entered, undefined)
        yield* yield* CallerGone
        yield* Deferred.succeed(ended, "cut short")
        return yield* new Conflict({ what: "Cannot wait: it was cut short" })
      }),
  })
  return {
    operation: declared,
    entered: Effect.runPromise(Deferred.await(entered)),
    ended: Effect.runPromise(Deferred.await(ended)),
  }
}

export const samples: readonly Operation[] = [
  getIndex,
  getRange,
  getBytes,
  deleteRange,
  deletePlainRange,
  ownRange,
  listEverything,
  addThing,
  paidThing,
  echo,
  needsBody,
  upload,
  getThing,
  getExample,
  keeps,
  breaks,
  describes,
  packs,
  saves,
  recordLogin,
  rotate,
  events,
]
