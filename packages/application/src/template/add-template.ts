import {
  builderVariables,
  defaultTreeLimits,
  Failed,
  InvalidInput,
  isBuilder,
  isTemplateName,
  longestText,
  type User,
  wrappingFolder,
} from "@rangewright/domain"
import { type ArtifactEntry, ArtifactLibrary, BuilderFiles, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { asArchiveRefusal, hostFailures, listInstalled, scopeOf } from "../ansible/installed.ts"
import { uploadedEntries } from "../ansible/uploaded-entries.ts"
import type { StoredFile } from "../operation/operation.ts"
import { mayBuild, mayHaveName } from "./may-build.ts"
import { othersTemplates } from "./others-templates.ts"
import { toldOf } from "./told.ts"

/** Folders that tools of older services keep beside templates. */
const scratchFolders: ReadonlySet<string> = new Set(["tmp", "packer_cache", "log-history"])

const invalid = (what: string, hint?: string) => new InvalidInput({ what, ...(hint === undefined ? {} : { hint }) })

/** The files of the archive's only folder, with paths relative to it. */
const inOneFolder = (entries: readonly ArtifactEntry[]) => {
  const root = wrappingFolder(
    entries.map(({ path }) => path),
    [],
  )
  if (root === undefined)
    return Effect.fail(invalid("Cannot add the template: the archive must hold exactly one folder, which contains everything"))
  if (scratchFolders.has(root))
    return Effect.fail(invalid(`Cannot add the template: its folder cannot be named ${root}`, "Rename the folder."))
  const link = entries.find(({ kind }) => kind === "link")
  if (link !== undefined)
    return Effect.fail(
      invalid(
        `Cannot add the template: ${JSON.stringify(link.path.slice(0, 200))} is a link, and templates must not contain links`,
      ),
    )
  return Effect.succeed(entries.map((entry) => ({ ...entry, path: entry.path.slice(root.length + 1) })))
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 100))

/** The facts from the archive's builder file. Clients match the text for a file without a name. */
const readFacts = Effect.fnUntraced(function* (entries: readonly ArtifactEntry[]) {
  const builders = entries.filter(({ path }) => isBuilder(path))
  const [builder] = builders
  if (builder?.kind !== "file" || builders.length > 1)
    return yield* new Failed({
      what: `Cannot add the template: it has ${builders.length} builder files (*.pkr.hcl or *.pkr.json); a template has one`,
    })
  const reader = yield* BuilderFiles
  const text = builder.size <= longestText ? new TextDecoder().decode(yield* builder.read) : ""
  const facts = yield* reader.read(builder.path, text)
  const { name, declares } = facts
  if (name === undefined)
    return yield* new Failed({
      what: `Error extracting template name from ${shown(builder.path)}: no source block has a vm_name that can be read without running it`,
      hint: 'Declare variable "vm_name" with the name as its default.',
    })
  if (!isTemplateName(name))
    return yield* invalid(
      `Cannot add the template: a template cannot be named ${shown(name)}`,
      "Use letters, digits, ., _ and -, beginning with a letter or digit.",
    )
  const told = yield* toldOf(facts, facts.icon, entries)
  return { name, told, undeclared: builderVariables.filter((variable) => !declares.has(variable)) }
})

/** Whether anybody else has a template with this name: as files, or on the hypervisor. */
const isElsewhere = Effect.fnUntraced(function* (user: User, name: string) {
  const machines = yield* Machines
  const built = yield* machines.templates
  return built.some((template) => template.name === name) || (yield* othersTemplates(user)).holders.has(name)
})

/** Prevents two concurrent uploads with one name from both finding it free. */
const uploads = Semaphore.makeUnsafe(1)

/**
 * Adds a template that was uploaded as an archive of its folder, named after the machine that it builds. An existing one stays until the
 * new one is complete. Returns the build variables that its builder file does not declare.
 */
export const addTemplate = (file: StoredFile, user: User, force: boolean) =>
  Effect.scoped(
    Effect.gen(function* () {
      yield* mayBuild(user, "add a template")
      const entries = yield* Effect.flatMap(uploadedEntries(file, scopeOf(user)), inOneFolder)
      const { name, told, undeclared } = yield* readFacts(entries)
      yield* mayHaveName(user, name, "add template")
      const place = Effect.gen(function* () {
        const library = yield* ArtifactLibrary
        const { own } = yield* listInstalled(user)
        if (own.templates.some((one) => one.name === name)) {
          if (!force) return yield* invalid(`Template already exists: ${name}. Use --force to replace it`)
        } else if (yield* isElsewhere(user, name)) {
          if (force) return yield* invalid(`Cannot replace the template: "${name}" does not belong to you`)
          return yield* new Failed({
            what: `Cannot add the template: ${name} is already present on the server, and names of templates must be unique`,
            hint: "Change vm_name.",
          })
        }
        yield* library.place({ scope: scopeOf(user), kind: "template", name }, entries, { template: told, replace: force })
      })
      yield* uploads.withPermit(place)
      return { name, undeclared }
    }),
  ).pipe(
    hostFailures,
    Effect.catchTag("LibraryFault", (fault) => Effect.fail(asArchiveRefusal(fault))),
  )

/** Most bytes of an archive: as much as all files of a template may have. */
export const mostTemplateBytes = defaultTreeLimits.totalBytes
