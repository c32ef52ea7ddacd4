import type { GuestOs } from "../core/state.ts"

const builds: Readonly<Record<string, number>> = {
  "10": 19_045,
  "11": 26_100,
  "2016": 14_393,
  "2019": 17_763,
  "2022": 20_348,
  "2025": 26_100,
}

/** Days until a licence from a KMS host has to be renewed. */
const daysOfLicence = 180

const roleOf = ({ stages }: GuestOs, server: boolean): number => {
  if (stages["primary-dc"] !== undefined) return 5
  if (stages["alt-dc"] !== undefined) return 4
  return (stages["domain-join"] === undefined ? 0 : 1) + (server ? 2 : 0)
}

/**
 * The output of the activation stages on a Windows machine, like that of the real playbooks; undefined for other stages. Every activation
 * succeeds: there is no KMS host here, and no licence.
 */
export const licenceReport = (os: GuestOs, stage: string): string | undefined => {
  if (os.family !== "windows" || !["inspect-windows", "activate-windows", "kms-server"].includes(stage)) return undefined
  const server = os.prettyName.includes("Server")
  const evaluation = os.prettyName.includes("Evaluation")
  const isHost = os.stages["kms-server"] !== undefined
  const licensed = isHost || os.stages["activate-windows"] !== undefined
  const channel = evaluation ? "TIMEBASED_EVAL" : isHost ? "VOLUME_KMS" : "VOLUME_KMSCLIENT"
  return JSON.stringify({
    edition: `${server ? "ServerStandard" : "Enterprise"}${evaluation ? "Eval" : ""}`,
    build: builds[os.version] ?? 0,
    domainRole: roleOf(os, server),
    channel: `Windows(R) Operating System, ${channel} channel`,
    status: licensed ? 1 : 5,
    graceMinutes: licensed ? daysOfLicence * 24 * 60 : 0,
    kmsPort: isHost ? 1688 : 0,
    error: "",
  })
}
