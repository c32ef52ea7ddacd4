import { collectionSegments, roleReceiptFile, type WantedArtifact, withoutTrailing } from "@rangewright/domain"
import type { InstallerFault } from "@rangewright/ports"
import { endProcessesBelow, makeTurns, openToolHost, removeFolder } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdir, mkdtemp, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { folderEntries } from "../library/folder-entries.ts"
import { artifactParts, kindFolders, look } from "../library/layout.ts"
import { libraryListing } from "../library/listing.ts"
import { programFolders } from "../tool/host-ansible.ts"
import { galaxySettings, type GalaxyOptions, type GalaxySettings } from "./galaxy-options.ts"
import { generalMessages, readMessages, roleFailures, tidyReason } from "./galaxy-output.ts"
import { hostFault, runTool, toolScope as scope, type Workbench } from "./galaxy-tool.ts"
import type { FetchedPackage, MissingPackage, PackageSource } from "./package-source.ts"

const doing = "install roles and collections"
type Output = (text: string) => Effect.Effect<void>

const scratchFolder = (settings: GalaxySettings): Effect.Effect<string, InstallerFault, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => mkdtemp(join(settings.folder, "run-")),
      catch: (cause) => hostFault(doing, cause),
    }),
    (scratch) => Effect.ignore(Effect.tryPromise(() => removeFolder(scratch))),
  )

/** JSON is valid YAML, and leaves nothing of a name or version open to misinterpretation. */
const writeRequirements = (scratch: string, requirements: unknown): Effect.Effect<string, InstallerFault> => {
  const file = join(scratch, "requirements.yml")
  return Effect.as(
    Effect.tryPromise({
      try: () => writeFile(file, JSON.stringify(requirements), { mode: 0o600 }),
      catch: (cause) => hostFault(doing, cause),
    }),
    file,
  )
}

const publishedName = ({ origin }: WantedArtifact): string => (origin.from === "name" ? origin.name : origin.url)
const versionOf = ({ pin }: WantedArtifact) => (pin === undefined ? {} : { version: pin })

/** The reassembled messages of one run. */
type Messages = readonly string[]

/** Fetches all roles in one run. Not their dependencies: those may come from repositories, which are fetched with checks. */
const fetchRoles = (bench: Workbench, scratch: string, wanted: readonly WantedArtifact[], output: Output) =>
  Effect.gen(function* () {
    const file = yield* writeRequirements(
      scratch,
      wanted.map((one) => ({ src: publishedName(one), name: one.name, ...versionOf(one) })),
    )
    const flags = ["--roles-path", kindFolders(scratch, scope).roles, "--no-deps", "--ignore-errors"]
    const { lines } = yield* runTool(bench, { doing, args: ["role", "install", "-r", file, ...flags], scratch, output })
    return readMessages(lines)
  })

/** The server that a requirement names; none when it is the configured one, which has the token. */
const sourceOf = ({ settings }: Workbench, { origin }: WantedArtifact) => {
  const plain = (url: string) => withoutTrailing(URL.parse(url)?.href ?? url, "/")
  return origin.from !== "name" || origin.server === undefined || plain(origin.server) === plain(settings.server)
    ? {}
    : { source: origin.server }
}

const fetchCollections = (bench: Workbench, scratch: string, wanted: readonly WantedArtifact[], output: Output) =>
  Effect.gen(function* () {
    const collections = wanted.map((one) => ({ name: publishedName(one), ...versionOf(one), ...sourceOf(bench, one) }))
    const file = yield* writeRequirements(scratch, { collections })
    const flags = ["-p", kindFolders(scratch, scope).collections]
    const { lines } = yield* runTool(bench, { doing, args: ["collection", "install", "-r", file, ...flags], scratch, output })
    return readMessages(lines)
  })

/** Everything that the tool installed completely. A role's receipt is the last file that it writes. */
const fetched = (scratch: string): Effect.Effect<readonly FetchedPackage[], InstallerFault> =>
  Effect.tryPromise({
    try: async () => {
      const { roles, collections } = await libraryListing(scratch)(scope)
      const arrivals: FetchedPackage[] = []
      for (const [type, copies] of [
        ["role", roles],
        ["collection", collections],
      ] as const)
        for (const { name, version } of copies) {
          const folder = join(scratch, ...artifactParts({ scope, kind: type, name }))
          if (type === "role" && (await look(join(folder, roleReceiptFile))) === undefined) continue
          arrivals.push({ type, name, version, entries: await folderEntries(doing, folder), wanted: undefined })
        }
      return arrivals
    },
    catch: (cause) => hostFault(doing, cause),
  })

/** Matches requests with what was fetched; the rest came as dependencies. */
const settle = (
  wanted: readonly WantedArtifact[],
  arrivals: readonly FetchedPackage[],
  reasonOf: (one: WantedArtifact) => string,
): readonly (FetchedPackage | MissingPackage)[] => {
  const asked = new Map(wanted.map((one) => [`${one.type} ${one.name}`, one]))
  const came = arrivals.map((fetched) => ({ ...fetched, wanted: asked.get(`${fetched.type} ${fetched.name}`) }))
  const there = new Set(came.map(({ wanted: one }) => one))
  return [
    ...came,
    ...wanted.filter((one) => !there.has(one)).map((one): MissingPackage => ({ wanted: one, because: reasonOf(one) })),
  ]
}

/** Messages about a broken connection to the server. Busy servers cause that, and the tool does not retry. */
const isBroken = /econnreset|connection reset|connection aborted|remote end closed/iu

const fetch = (bench: Workbench, wanted: readonly WantedArtifact[], output: Output) =>
  Effect.gen(function* () {
    const scratch = yield* scratchFolder(bench.settings)
    const reasons = new Map<WantedArtifact, string>()
    const note = (all: readonly WantedArtifact[], messages: Messages) => {
      const tidy = (reason: string) => tidyReason(reason, scratch) || "the tool gave no reason"
      const told = roleFailures(messages)
      // messages about other roles do not explain this failure
      const otherwise = tidy((all.length === 1 ? messages : generalMessages(messages)).join(" "))
      for (const one of all) {
        const reason = told.get(one.name ?? "")
        reasons.set(one, reason === undefined ? otherwise : tidy(reason))
      }
    }
    const attempt = Effect.fnUntraced(function* (all: readonly WantedArtifact[]) {
      const [roles, collections] = [all.filter(({ type }) => type === "role"), all.filter(({ type }) => type === "collection")]
      if (roles.length > 0) note(roles, yield* fetchRoles(bench, scratch, roles, output))
      if (collections.length > 0) {
        note(collections, yield* fetchCollections(bench, scratch, collections, output))
        // the tool installs either all or none of them: if one is unavailable, each is tried separately
        const missing = yield* Effect.filter(collections, (one) => Effect.map(isFetched(scratch, one), (there) => !there))
        if (missing.length > 0 && collections.length > 1)
          for (const one of missing) note([one], yield* fetchCollections(bench, scratch, [one], output))
      }
      return settle(wanted, yield* fetched(scratch), (one) => reasons.get(one) ?? "the tool did not install it")
    })
    const settled = yield* attempt(wanted)
    const broken = settled.flatMap((one) => ("because" in one && isBroken.test(one.because) ? [one.wanted] : []))
    return broken.length === 0 ? settled : yield* attempt(broken)
  })

const isFetched = (scratch: string, { name = "" }: WantedArtifact): Effect.Effect<boolean, InstallerFault> =>
  Effect.tryPromise({
    try: async () =>
      collectionSegments(name) !== undefined &&
      (await look(join(scratch, ...artifactParts({ scope, kind: "collection", name })))) !== undefined,
    catch: (cause) => hostFault(doing, cause),
  })

/** A Galaxy server as the source of published roles and collections, using `ansible-galaxy`. Fails when its folder cannot be used. */
export const galaxySource = (options: GalaxyOptions): Effect.Effect<PackageSource, InstallerFault> =>
  Effect.gen(function* () {
    const settings = galaxySettings(options)
    const host = yield* openToolHost(settings.tools)
    const turns = makeTurns(settings.atOnce, settings.atOnceForOne)
    const open = async () => {
      // a tool that outlived a killed service would still write there
      await endProcessesBelow(settings.folder)
      await removeFolder(settings.folder)
      await mkdir(settings.folder, { recursive: true, mode: 0o700 })
    }
    yield* Effect.tryPromise({ try: open, catch: (cause) => hostFault("open the folder of the installer", cause) })
    const bench = { settings, host, folders: yield* Effect.promise(() => programFolders(settings.program)) }
    return { fetch: (wanted, output, whose) => turns(whose, fetch(bench, wanted, output)) }
  })
