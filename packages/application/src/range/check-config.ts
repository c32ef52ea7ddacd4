import {
  checkRangeConfig,
  type ConfigIssue,
  type Failed,
  InvalidInput,
  isFinishedTemplate,
  machineNames,
  olderClaims,
  type Range,
  type RangeConfig,
  unbuilt,
  type User,
  usesRoles,
} from "@rangewright/domain"
import {
  type ArtifactLibrary,
  GuestAutomation,
  Machines,
  Ranges,
  type RunJournal,
  type StorageFault,
  type Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { UploadedFile } from "../operation/operation.ts"
import type { Settings } from "../settings.ts"
import { listTemplates } from "../template/list-templates.ts"
import { otherRanges } from "./other-ranges.ts"
import { readRangeConfig } from "./read-config.ts"

/** Most bytes of an uploaded configuration: many times what the largest real range needs. */
export const mostConfigBytes = 1_048_576

// keeps the byte order mark: files come back as they were uploaded
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The text of an uploaded configuration, unchanged. */
export const configText = (file: UploadedFile): Effect.Effect<string, InvalidInput> =>
  Effect.try({
    try: () => utf8.decode(file.bytes),
    catch: () =>
      new InvalidInput({
        what: "Configuration error: the file is not UTF-8 text",
        hint: "Save the file as UTF-8 and upload it again.",
      }),
  })

/** Machine names from the stored configuration; none when it cannot be read. */
const configuredNames = (range: Range) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const stored = yield* ranges.config(range.id)
    const parsed = stored === undefined ? undefined : yield* readRangeConfig(stored.text)
    return parsed !== undefined && Result.isSuccess(parsed) ? machineNames(range.id, parsed.success.config) : []
  })

/** The installed roles. Not read for a configuration without roles: on a new service that is another program to wait for. */
const rolesFor = (config: RangeConfig, user: User) =>
  Effect.gen(function* () {
    if (!usesRoles(config)) return undefined
    const guests = yield* GuestAutomation
    return yield* Effect.orElseSucceed(guests.roles(user.id), () => undefined)
  })

/** Known facts of the installation. The hypervisor is not asked; what is not known is not checked. */
const factsFor = (config: RangeConfig, range: Range, user: User) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const cluster = yield* machines.cluster
    const roles = yield* rolesFor(config, user)
    const others = yield* otherRanges(range)
    // left out when the library cannot be read
    const known = yield* Effect.orElseSucceed(listTemplates(user), () => undefined)
    // a template in the pool of another range is not one for this range
    const pools = new Set<string | undefined>(others.map(({ id }) => id))
    const templates = (yield* machines.templates).flatMap(({ name, ...template }) =>
      name !== undefined && isFinishedTemplate(template) && !pools.has(template.pool) ? [name] : [],
    )
    return {
      rangeId: range.id,
      rangeNumber: range.number,
      // as in plans: ranges that are created later cannot use names that begin with this one's ID
      otherRanges: olderClaims(range.id, others),
      keptNames: new Set([
        ...(yield* configuredNames(range)),
        ...(yield* machines.ofRange(range.id)).flatMap(({ name }) => name ?? []),
      ]),
      ...(cluster === undefined
        ? {}
        : {
            templates: new Set(templates),
            ...(known === undefined ? {} : { unbuilt: unbuilt(known) }),
            nodes: cluster.nodes.map(({ name, cpus, memoryMiB }) => ({ name, cpus, ramGb: memoryMiB / 1024 })),
          }),
      ...(roles === undefined ? {} : { roles: { names: roles, collections: new Set<string>() } }),
    }
  })

/** All errors and warnings about a configuration for this range, as far as they can be determined now. */
export const configIssues = (
  text: string,
  range: Range,
  user: User,
): Effect.Effect<
  readonly ConfigIssue[],
  Failed | StorageFault,
  ArtifactLibrary | GuestAutomation | Machines | Ranges | RunJournal | Settings | Users
> =>
  Effect.gen(function* () {
    const parsed = yield* readRangeConfig(text)
    if (Result.isFailure(parsed)) return parsed.failure
    return [...parsed.success.warnings, ...checkRangeConfig(parsed.success, yield* factsFor(parsed.success.config, range, user))]
  })
