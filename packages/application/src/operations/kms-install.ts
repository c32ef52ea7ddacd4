import * as Effect from "effect/Effect"
import { installKms } from "../kms/install-server.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const kmsInstall = operation({
  id: "kmsInstall",
  route: "POST /kms/install",
  group: "KMS",
  does: "set up a KMS host",
  summary: "Set up a KMS host on the configured machine, or check that the organisation's own answers",
  access: "admin",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the KMS host is ready",
    404: "this server has no KMS host in its configuration",
    409: "the configured machine does not exist, or its range does not belong to an administrator; the machine is off, does not run Windows Server, has an evaluation edition or is a domain controller; testing is on in its range; a run is changing the range; another request is asking its machines",
    500: "the KMS host could not be set up, or does not answer: the text says why",
    502: hypervisorAway,
  },
  handle: ({ caller }) => Effect.map(installKms(caller.id), (result) => ({ result })),
})
