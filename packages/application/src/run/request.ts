import type { DeployTag, Json, Vmid } from "@rangewright/domain"
import { deployTags, isVmid, roleSequences } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { RunRequest } from "./run-engine.ts"

const VmidFromJson = Schema.Int.check(Schema.makeFilter((n) => isVmid(n) || "no VMID")) as unknown as Schema.Codec<Vmid, number>
const Tag = Schema.Literals(deployTags) satisfies Schema.Codec<DeployTag, DeployTag>

const orFalse = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

/** A request as a run's head keeps it, so that a run can be planned again after a crash, and resumed. */
const StoredRequest = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("deploy"),
    options: Schema.Struct({
      tags: Schema.Array(Tag),
      limit: Schema.String,
      onlyRoles: Schema.Array(Schema.String),
      force: Schema.Boolean,
      verbose: Schema.Boolean,
      roleSequence: Schema.optionalKey(Schema.Literals(roleSequences)),
      // requests that were stored before there were these removed nothing when they are planned anew
      prune: orFalse,
      replace: orFalse,
      confirmed: Schema.optionalKey(Schema.String),
    }),
  }),
  Schema.Struct({ kind: Schema.Literal("destroy") }),
  Schema.Struct({ kind: Schema.Literal("delete-range"), force: Schema.Boolean }),
  Schema.Struct({ kind: Schema.Literal("destroy-vm"), vmid: VmidFromJson }),
  Schema.Struct({ kind: Schema.Literal("power"), on: Schema.Boolean, vmids: Schema.optionalKey(Schema.Array(VmidFromJson)) }),
  Schema.Struct({ kind: Schema.Literal("auto-shutdown") }),
  Schema.Struct({ kind: Schema.Literal("access") }),
])

const decode = Schema.decodeUnknownOption(StoredRequest)

/** The request as JSON. */
export const storeRequest = (request: RunRequest): Json => {
  if (request.kind !== "power") return { ...request } as Json
  return { kind: request.kind, on: request.on, ...(request.vmids === undefined ? {} : { vmids: request.vmids }) }
}

/** The request that `storeRequest` wrote; undefined for anything else. */
export const restoreRequest = (stored: Json): RunRequest | undefined =>
  Option.match(decode(stored), {
    onNone: () => undefined,
    onSome: (request) => (request.kind === "power" ? { ...request, vmids: request.vmids } : request),
  })
