import { type MachineAccount, machineAccounts, rangeHosts } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { hostFacts } from "../range/hosts.ts"
import { machinePasswords } from "../range/passwords.ts"
import { deployedConfig } from "../range/read-config.ts"

const Account = Schema.Struct({
  username: Schema.String,
  domain: Schema.optionalKey(Schema.String),
  password: Schema.optionalKey(Schema.String),
  // for accounts that log in with a key; at present all have passwords
  privateKey: Schema.optionalKey(Schema.String),
  certificate: Schema.optionalKey(Schema.String),
  protocols: Schema.Array(Schema.Literals(["ssh", "winrm", "rdp"])),
})

const RangeCredentials = Schema.Struct({
  rangeID: Schema.String,
  machines: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      proxmoxID: Schema.Int,
      ip: Schema.optionalKey(Schema.String),
      accounts: Schema.Array(Account),
    }),
  ),
}).annotate({ identifier: "RangeCredentials" })

const wireAccount = ({ user, domain, password, protocols }: MachineAccount): typeof Account.Type => ({
  username: user,
  ...(domain === undefined ? {} : { domain }),
  ...(password === undefined ? {} : { password }),
  protocols,
})

/** A GET that is audited like a change, to record who read the passwords of a range. */
export const getRangeCredentials = operation({
  id: "getRangeCredentials",
  route: "GET /range/credentials",
  group: "Credentials",
  origin: "ours",
  does: "read the logins of a range's machines",
  summary:
    "The logins of the range's machines, router included: a zip archive, or JSON where the request accepts application/json",
  access: "range-access",
  target: "range",
  wholeKeyOnly: true,
  mutates: true,
  recordedFirst: true,
  output: { type: "json-or-zip", schema: RangeCredentials, name: "credentials" },
  statuses: { 200: "logins of the range machines", 502: "a stored password cannot be read" },
  handle: ({ range }) =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const config = yield* deployedConfig(range.id)
      const facts = { ...(yield* hostFacts(range.id)), passwords: yield* machinePasswords(range.id) }
      const hosts = rangeHosts(range, config, yield* machines.ofRange(range.id), facts)
      return {
        rangeID: range.id,
        machines: hosts.map((host) => ({
          name: host.name,
          proxmoxID: host.seen.vmid,
          ...(host.address === undefined ? {} : { ip: host.address }),
          accounts: machineAccounts(range, config, host).map(wireAccount),
        })),
      }
    }),
})
