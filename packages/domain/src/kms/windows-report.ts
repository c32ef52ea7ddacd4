import { clientKeyFor } from "./client-keys.ts"

/** A machine's report of its Windows and its license: unverified, since its administrators control it. */
export interface WindowsReport {
  /** `EditionID`: `ServerStandard`, `EnterpriseEval`. */
  readonly edition: string
  readonly build: number
  /** `DomainRole`: 4 and 5 are domain controllers. */
  readonly domainRole: number
  /** `Windows(R) Operating System, VOLUME_KMSCLIENT channel`; empty without a product key. */
  readonly channel: string
  /** `LicenseStatus`: 1 is licensed, everything else is not. */
  readonly status: number
  /** Minutes until the license must be renewed; 0: never. */
  readonly graceMinutes: number
  /** The port on which it listens as a KMS host; 0 if it is none. */
  readonly kmsPort: number
  /** `0xC004F074`: the error of the setup or activation; empty if nothing failed. */
  readonly error: string
}

const plainText = /^[A-Za-z0-9 ()_,.:/-]{0,120}$/u
const longestReport = 4096

const whole = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 0xff_ff_ff_ff ? value : undefined
const plain = (value: unknown): string | undefined => (typeof value === "string" && plainText.test(value) ? value : undefined)

/** Parses the output of the activation stages. Undefined for anything else. */
export const readWindowsReport = (text: string): WindowsReport | undefined => {
  if (text.length > longestReport) return undefined
  let said: unknown
  try {
    said = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof said !== "object" || said === null || Array.isArray(said)) return undefined
  const of = said as Readonly<Record<string, unknown>>
  const edition = plain(of["edition"])
  const channel = plain(of["channel"])
  const error = plain(of["error"])
  const build = whole(of["build"])
  const domainRole = whole(of["domainRole"])
  const status = whole(of["status"])
  const graceMinutes = whole(of["graceMinutes"])
  const kmsPort = whole(of["kmsPort"])
  return edition === undefined ||
    edition === "" ||
    channel === undefined ||
    error === undefined ||
    build === undefined ||
    domainRole === undefined ||
    status === undefined ||
    graceMinutes === undefined ||
    kmsPort === undefined
    ? undefined
    : { edition, channel, error, build, domainRole, status, graceMinutes, kmsPort }
}

const isEvaluation = ({ edition, channel }: WindowsReport): boolean => /Eval/u.test(edition) || /EVAL/u.test(channel)
const isDomainController = ({ domainRole }: WindowsReport): boolean => domainRole === 4 || domainRole === 5

/** Why neither activation nor KMS setup is attempted, as a clause; undefined if it can be. */
const common = (report: WindowsReport): string | undefined => {
  if (isDomainController(report)) return "it is a domain controller, which cannot be activated"
  return isEvaluation(report)
    ? `it has an evaluation edition (${report.edition}), which cannot be activated: build its template from a volume-licensing installation medium`
    : undefined
}

/** Why a machine cannot be activated; undefined if it can. `own`: the caller provides the product key. */
export const activationProblem = (report: WindowsReport, own: boolean): string | undefined =>
  common(report) ??
  (own || clientKeyFor(report.edition, report.build) !== undefined
    ? undefined
    : `no KMS client key is known for its edition (${report.edition}, build ${report.build}): give a product key`)

/** Why a machine cannot become a KMS host; undefined if it can. */
export const kmsServerProblem = (report: WindowsReport): string | undefined =>
  common(report) ??
  (report.edition.startsWith("Server")
    ? undefined
    : `it does not run Windows Server but ${report.edition} (build ${report.build})`)

const reasons: Readonly<Record<string, string>> = {
  "0x8007007B": "the name of the KMS host cannot be resolved in the machine",
  "0x8007232B": "the name of the KMS host cannot be resolved in the machine",
  "0x800706BA": "the KMS host cannot be reached from the machine",
  "0xC004B100": "the KMS host could not activate it",
  "0xC004C001": "Microsoft's servers say that the product key is invalid",
  "0xC004C003": "Microsoft's servers say that the product key is blocked",
  "0xC004C008": "Microsoft's servers say that the product key has been used up",
  "0xC004F015": "the product key is not for its edition",
  "0xC004F034": "the licence or the product key was not found",
  "0xC004F038":
    "too few machines have asked the KMS host: it activates servers once 5 machines have asked, and other Windows once 25 have",
  "0xC004F039": "the machine has no KMS client key",
  "0xC004F041": "the KMS host itself is not activated",
  "0xC004F042": "the KMS host has no key for this version of Windows",
  "0xC004F050": "the product key is invalid",
  "0xC004F069": "the product key is not for its edition",
  "0xC004F06C": "the clocks of the machine and of the KMS host differ by more than four hours",
  "0xC004F074": "the KMS host did not answer, or the clocks differ by more than four hours",
}

/** The meaning of a Windows error code. */
export const activationError = (code: string): string => {
  const known = Object.hasOwn(reasons, code) ? reasons[code] : undefined
  return known === undefined ? `Windows says ${code}` : `${known} (${code})`
}

/** The license state of a machine at its last check. */
export type Activation =
  | {
      readonly state: "activated"
      readonly at: Date
      /** When Windows must have renewed it; undefined if it need not. */
      readonly until: Date | undefined
    }
  | { readonly state: "not-activated"; readonly at: Date; readonly because: string }

const minute = 60_000

/** The license state in a new report. Only what Windows calls licensed counts as activated. */
export const activationIn = ({ status, graceMinutes, error }: WindowsReport, at: Date): Activation =>
  status === 1 && error === ""
    ? { state: "activated", at, until: graceMinutes === 0 ? undefined : new Date(at.getTime() + graceMinutes * minute) }
    : { state: "not-activated", at, because: error === "" ? `Windows says licence status ${status}` : activationError(error) }

const day = (at: Date): string => at.toISOString().slice(0, 10)

/** For display: `activated until 2027-05-22, as of 2026-11-23`. */
export const activationText = (activation: Activation): string =>
  activation.state === "activated"
    ? `activated${activation.until === undefined ? "" : ` until ${day(activation.until)}`}, as of ${day(activation.at)}`
    : `not activated, as of ${day(activation.at)}: ${activation.because}`
