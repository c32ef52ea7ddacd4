import { Failed } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Doctor } from "../host/doctor.ts"
import { operation } from "../operation/operation.ts"
import { DoctorResult } from "../wire/doctor.ts"
import { BooleanText } from "../wire/parameters.ts"

/** Unlike other reads, this calls the hypervisor and programs of the host, to check whether they answer. */
export const getDoctor = operation({
  id: "getDoctor",
  route: "GET /doctor",
  group: "Host",
  origin: "ours",
  does: "check the installation",
  summary: "What the service needs and does not find, or finds doubtful, and what to do about it",
  access: "admin",
  target: "none",
  /** Check again even if the last check was less than a minute ago. */
  query: { refresh: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: DoctorResult },
  statuses: { 200: "what each check found", 400: "refresh is not a boolean", 500: "this service has no checks" },
  handle: ({ query }) =>
    Effect.gen(function* () {
      const doctor = yield* Doctor
      if (doctor === undefined)
        return yield* new Failed({ what: "Cannot check the installation: this service was composed without its checks" })
      const { at, findings } = yield* query.refresh === true ? doctor.again : doctor.recent
      return { checkedAt: at.toISOString(), findings }
    }),
})
