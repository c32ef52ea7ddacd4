import {
  type BuilderImage,
  Conflict,
  evaluationDays,
  fileNameIn,
  isBuilder,
  listsBeside,
  longestText,
  NotFound,
  readBuilderImages,
  readChecksum,
  sumsOf,
  type TemplateDefinition,
  type User,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  ImageServers,
  type LibraryScope,
  monotonicMillis,
  RunJournal,
  type ServerText,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Semaphore from "effect/Semaphore"
import { hostFailures, listInstalled, scopeOf } from "../ansible/installed.ts"
import { templateBuildName, templateSubject } from "./build-run.ts"

/** The result of one check. `because` is absent only if all is well. */
export interface Checked<State extends string> {
  readonly state: State | "not_checked"
  readonly because?: string
}

export interface CheckedImage {
  /** Undefined: it cannot be read from the builder file without running that. */
  readonly url: string | undefined
  readonly file: Checked<"there" | "gone"> & { readonly bytes?: number; readonly lastModified?: string }
  readonly checksum: Checked<"matches" | "differs" | "none">
}

export interface CheckedEvaluation extends Checked<"runs" | "ended"> {
  readonly days: number
  readonly builtAt?: Date
  readonly endsAt?: Date
}

export interface CheckedTemplate {
  readonly template: string
  readonly images: readonly CheckedImage[]
  readonly evaluation?: CheckedEvaluation
  /** Why nothing, or not everything, was checked. */
  readonly notChecked?: string
}

/** Limits of one request: templates, images per template, seconds, and concurrent checks. */
const [mostTemplates, mostImages, longestSeconds, atOnce] = [200, 10, 50, 8]
const late = `there was no time left: a check may take at most ${longestSeconds} s`

const notChecked = (because: string) => ({ state: "not_checked" as const, because })

/** Asks for each URL once, however many templates need it. */
const remembering = <A>(ask: (url: string) => Effect.Effect<A>) => {
  const known = new Map<string, Effect.Effect<A>>()
  return (url: string): Effect.Effect<A> =>
    Effect.gen(function* () {
      const before = known.get(url)
      if (before !== undefined) return yield* before
      const asked = yield* Effect.cached(ask(url))
      known.set(url, asked)
      return yield* asked
    })
}

interface Servers {
  readonly look: (typeof ImageServers.Service)["look"]
  readonly read: (typeof ImageServers.Service)["read"]
}

const compared = (sums: readonly string[], sum: string, list: string) =>
  sums.includes(sum)
    ? ({ state: "matches" } as const)
    : ({ state: "differs", because: `${list} has a different one: ${sums[0] ?? ""}` } as const)

/** Compares the template's checksum with the server's own lists. */
const besides = (
  url: string,
  { type, sum }: Extract<ReturnType<typeof readChecksum>, { readonly kind: "sum" }>,
  { read }: Servers,
) =>
  Effect.gen(function* () {
    const name = fileNameIn(url) ?? ""
    for (const list of listsBeside(url, type)) {
      const found: ServerText = yield* read(list)
      const sums = found.state === "there" ? sumsOf(found.text, name).filter(({ length }) => length === sum.length) : []
      if (sums.length > 0) return compared(sums, sum, list)
    }
    return notChecked("its server publishes no list of checksums next to it: only a build would show")
  })

const checksumOf = (url: string, written: string | undefined, servers: Servers): Effect.Effect<CheckedImage["checksum"]> =>
  Effect.gen(function* () {
    const checksum = readChecksum(written)
    switch (checksum.kind) {
      case "none":
        return { state: "none", because: "the template requires none: it installs whatever the server sends" }
      case "unreadable":
        return notChecked("the template does not name it in a way that can be read without running it")
      case "sum":
        return yield* besides(url, checksum, servers)
      case "list": {
        const found = yield* servers.read(checksum.url)
        if (found.state === "unknown") return notChecked(`${checksum.url}: ${found.because}`)
        const name = fileNameIn(url) ?? ""
        if (found.state === "there" && sumsOf(found.text, name).length > 0) return { state: "matches" }
        const because = found.state === "gone" ? found.because : `it does not name ${name}`
        return { state: "differs", because: `the list ${checksum.url} that the template names cannot be used: ${because}` }
      }
    }
  })

const checkImage = ({ url, checksum, file }: BuilderImage, servers: Servers): Effect.Effect<CheckedImage> =>
  Effect.gen(function* () {
    if (url === undefined) {
      const because =
        file === undefined
          ? "the template does not name its URL in a way that can be read without running it"
          : `it is a file of the hypervisor's storage: ${file.slice(0, 200)}`
      return { url, file: notChecked(because), checksum: notChecked("the image itself was not checked") }
    }
    const found = yield* servers.look(url)
    if (found.state !== "there")
      return {
        url,
        file: found.state === "gone" ? { state: "gone", because: found.because } : notChecked(found.because),
        checksum: notChecked(found.state === "gone" ? "the image itself is gone" : "the image itself was not checked"),
      }
    const { bytes, lastModified } = found
    return {
      url,
      file: {
        state: "there",
        ...(bytes === undefined ? {} : { bytes }),
        ...(lastModified === undefined ? {} : { lastModified }),
      },
      checksum: yield* checksumOf(url, checksum, servers),
    }
  })

const dayMillis = 86_400_000

/** When the evaluation period of the last build ends; it begins with the installation. */
const evaluationOf = Effect.fnUntraced(function* (template: string, days: number) {
  const journal = yield* RunJournal
  const runs = yield* journal.list({ subject: templateSubject(template), kinds: [templateBuildName], limit: 20 })
  const builtAt = runs.find(({ status }) => status === "success" || status === "partial")?.endedAt
  if (builtAt === undefined)
    return { days, ...notChecked("no build of it by the service is on record") } satisfies CheckedEvaluation
  const endsAt = new Date(builtAt.getTime() + days * dayMillis)
  const ended = endsAt.getTime() <= (yield* Clock.currentTimeMillis)
  return (
    ended
      ? { state: "ended", because: "build it again: delete what is built first", days, builtAt, endsAt }
      : { state: "runs", days, builtAt, endsAt }
  ) satisfies CheckedEvaluation
})

const checkOne = Effect.fnUntraced(function* (scope: LibraryScope, template: string, servers: Servers, deadline: number) {
  const library = yield* ArtifactLibrary
  const files = yield* library.files({ scope, kind: "template", name: template })
  const builder = files?.find(({ path }) => isBuilder(path))
  if (builder?.kind !== "file")
    return { template, images: [], notChecked: "its builder file is missing" } satisfies CheckedTemplate
  if (builder.size > longestText)
    return { template, images: [], notChecked: "its builder file is too long to be read" } satisfies CheckedTemplate
  const named = readBuilderImages(builder.path, new TextDecoder().decode(yield* builder.read))
  const left = Math.max(0, deadline - (yield* monotonicMillis))
  const images = yield* Effect.forEach(
    named.slice(0, mostImages),
    (image) =>
      Effect.map(Effect.timeoutOption(checkImage(image, servers), left), (checked): CheckedImage =>
        Option.getOrElse(checked, () => ({ url: image.url, file: notChecked(late), checksum: notChecked(late) })),
      ),
    { concurrency: 2 },
  )
  const days = named.map(({ url }) => (url === undefined ? undefined : evaluationDays(url))).find((one) => one !== undefined)
  const evaluation = days === undefined ? undefined : yield* evaluationOf(template, days)
  return {
    template,
    images,
    ...(evaluation === undefined ? {} : { evaluation }),
    ...(named.length === 0 ? { notChecked: "it is not installed from a disc image" } : {}),
    ...(named.length > mostImages ? { notChecked: `of its ${named.length} images only ${mostImages} were checked` } : {}),
  } satisfies CheckedTemplate
})

/** One check at a time: it sends requests to other people's servers. */
const checks = Semaphore.makeUnsafe(1)

/**
 * Checks whether the images that templates are installed from still exist, without building: of the user's and the global templates, or of
 * the named one. Downloads only short lists.
 */
export const checkTemplates = Effect.fnUntraced(function* (user: User, only: string | undefined) {
  const { own, global } = yield* listInstalled(user)
  const scopes = new Map<string, LibraryScope>()
  const add = (templates: readonly TemplateDefinition[], scope: LibraryScope) => {
    for (const { name } of templates) scopes.set(name, scope)
  }
  add(global.templates, scopeOf(user, true))
  add(own.templates, scopeOf(user))
  const wanted = [...scopes].filter(([name]) => only === undefined || name === only).toSorted(([a], [b]) => (a < b ? -1 : 1))
  if (only !== undefined && wanted.length === 0)
    return yield* new NotFound({
      what: `Cannot check template ${JSON.stringify(only.slice(0, 100))}: you have no files that it is built from`,
      hint: "GET /templates lists templates; those that are only on the hypervisor have no files here.",
    })
  const { look, read } = yield* ImageServers
  const servers: Servers = { look: remembering(look), read: remembering(read) }
  const deadline = (yield* monotonicMillis) + longestSeconds * 1000
  const work = Effect.forEach(
    wanted.slice(0, mostTemplates),
    ([template, scope]) => checkOne(scope, template, servers, deadline),
    { concurrency: atOnce },
  )
  const done = yield* checks.withPermitsIfAvailable(1)(work)
  if (Option.isNone(done))
    return yield* new Conflict({ what: "Cannot check templates: another check is running", hint: "Try again in a minute." })
  const rest = wanted.slice(mostTemplates).map(([template]): CheckedTemplate => ({
    template,
    images: [],
    notChecked: `one request checks at most ${mostTemplates} templates: check this one with ?name=`,
  }))
  return [...done.value, ...rest] as readonly CheckedTemplate[]
}, hostFailures)
