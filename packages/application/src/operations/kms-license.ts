import { InvalidInput, productKeyForm, productKeyIn } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { licenseMachines } from "../kms/license-machines.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult } from "../wire/bulk.ts"
import { commaList, SentVmid } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

/** Most machines of one request. */
const mostMachines = 1000
const longestList = 16_000

/** As `BulkResult`, with the run that did it; absent: nothing was started. */
const LicenseOutcome = Schema.Struct({ ...BulkResult.fields, runID: Schema.optionalKey(Schema.String) }).annotate({
  identifier: "LicenseOutcome",
})

export const kmsLicense = operation({
  id: "kmsLicense",
  route: "POST /kms/license",
  group: "KMS",
  does: "activate Windows on machines",
  summary: "Point machines of the range to the KMS host and activate their Windows",
  access: "range-access",
  target: "range",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      /** VMIDs: a list, or a comma-separated text. */
      vmIDs: Schema.Union([
        Schema.String.check(Schema.isMaxLength(longestList)),
        Schema.Array(SentVmid).check(Schema.isMaxLength(mostMachines)),
      ]),
      /** Absent or empty: the KMS client key that Microsoft publishes for the edition of each machine. */
      productKey: Schema.optionalKey(Schema.String),
    }),
  },
  output: { type: "json", schema: LicenseOutcome },
  statuses: {
    200: "the outcome for each machine",
    400: "no machine is named, or too many; the product key has another form; the body is malformed or wrongly typed",
    404: "this server has no KMS host in its configuration; the range is unknown, or none is selected",
    409: "testing is on; a run is changing the range; another request is asking its machines; the machine that is the KMS host does not exist, is in a range that does not belong to an administrator, or has no known address",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) =>
    Effect.gen(function* () {
      const { vmIDs, productKey = "" } = body
      const what = `Cannot activate Windows on machines of range ${range.id}`
      const items = [...new Set(typeof vmIDs === "string" ? commaList(vmIDs) : vmIDs.map(String))]
      if (items.length === 0 || items.length > mostMachines)
        return yield* new InvalidInput({
          what: `${what}: ${items.length === 0 ? "none was named" : `${items.length} are named`}`,
          issues: [{ path: "vmIDs", message: `name from 1 to ${mostMachines} machines by their numbers` }],
        })
      const own = productKey.trim() === "" ? undefined : productKeyIn(productKey)
      if (productKey.trim() !== "" && own === undefined)
        return yield* new InvalidInput({
          what: `${what}: the product key has another form`,
          issues: [{ path: "productKey", message: productKeyForm }],
        })
      return yield* licenseMachines(range, items, own, user.id)
    }),
})
