import { InvalidInput, type RecordId, type Source, sourceAccessContext } from "@rangewright/domain"
import { type GitAccess, SecretStore, Sources, type SealBroken, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** A caller's credentials for a private repository. */
export interface AccessInput {
  /** `none`: removes the stored credentials. */
  readonly access?: "none" | "token" | "ssh-key"
  readonly username?: string
  readonly token?: string
  readonly sshKey?: string
  readonly hostKey?: string
}

/** The plain form of the sealed credentials. */
type Plain =
  | { readonly type: "token"; readonly username?: string; readonly token: string }
  | { readonly type: "ssh-key"; readonly privateKey: string; readonly hostKey: string }

const hostKeyForm = /^SHA256:[A-Za-z0-9+/]{43}=?$/u
/** The size that is counted for a row includes room for them. */
const longest = { username: 255, token: 8 * 1024, sshKey: 16 * 1024 }

/** Encrypted PEM keys say so in a header; in OpenSSH's own format the name of a cipher follows the magic, both in base64. */
const needsPassphrase = (key: string): boolean =>
  /^(?:-----BEGIN ENCRYPTED |Proc-Type: 4,ENCRYPTED)/mu.test(key) || /\sb3BlbnNzaC1rZXktdjEA(?!AAAABG5vbm)/u.test(key)

const refused = (path: string, message: string, allowed: string): InvalidInput =>
  new InvalidInput({
    what: `Cannot take the credentials of the source: ${path}: ${message}`,
    issues: [{ path, message, allowed }],
  })

/** The problem of a one-line login or token; `undefined`: none. */
const lineProblem = (text: string, most: number): string | undefined => {
  if (text === "" || text.length > most) return `it must have 1 to ${most} characters`
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/u.test(text) ? "it contains a control character" : undefined
}

/** The given credentials, checked. `undefined`: nothing was given; `none`: remove them. */
const plainOf = ({
  access,
  username,
  token,
  sshKey,
  hostKey,
}: AccessInput): Effect.Effect<Plain | "none" | undefined, InvalidInput> =>
  Effect.gen(function* () {
    const type = access ?? (token !== undefined ? "token" : sshKey !== undefined ? "ssh-key" : undefined)
    if (type === undefined) {
      if (username === undefined && hostKey === undefined) return undefined
      return yield* refused(
        username === undefined ? "hostKey" : "username",
        "it has no effect without a token or key",
        "token or sshKey",
      )
    }
    if (type === "none") return "none"
    if (type === "token") {
      if (sshKey !== undefined) return yield* refused("sshKey", "a source has a token or a key, not both", "one of the two")
      if (token === undefined) return yield* refused("token", "there is none", "the token")
      for (const [path, text] of [
        ["token", token],
        ["username", username],
      ] as const) {
        const problem = text === undefined ? undefined : lineProblem(text, longest[path])
        if (problem !== undefined) return yield* refused(path, problem, "text on one line")
      }
      return { type, token, ...(username === undefined ? {} : { username }) }
    }
    if (token !== undefined) return yield* refused("token", "a source has a token or a key, not both", "one of the two")
    if (
      sshKey === undefined ||
      !/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----\s/u.test(sshKey.trimStart()) ||
      sshKey.length > longest.sshKey
    )
      return yield* refused("sshKey", "it is not a private key", "a private key without a passphrase, in OpenSSH or PEM form")
    if (needsPassphrase(sshKey))
      return yield* refused("sshKey", "it needs a passphrase, which nobody can enter here", "a private key without a passphrase")
    if (hostKey === undefined || !hostKeyForm.test(hostKey))
      return yield* refused(
        "hostKey",
        "the server's key must be known before connecting to it",
        "SHA256:…, as ssh-keygen -lf prints it",
      )
    // some tools pad the fingerprint, ssh does not
    return { type, privateKey: sshKey, hostKey: hostKey.replace(/=$/u, "") }
  })

/** The given credentials, sealed for the source with this record, as a change for `Sources.change`; empty if nothing was given. */
export const sealedAccess = Effect.fnUntraced(function* (
  recordId: RecordId,
  input: AccessInput,
): Effect.fn.Return<{ readonly access?: string | undefined }, InvalidInput, SecretStore> {
  const secrets = yield* SecretStore
  const plain = yield* plainOf(input)
  if (plain === undefined) return {}
  if (plain === "none") return { access: undefined }
  return { access: secrets.seal(JSON.stringify(plain), sourceAccessContext(recordId)) }
})

/** The credentials for the source's repository; undefined: none were given. */
export const openedAccess = Effect.fnUntraced(function* ({
  recordId,
}: Pick<Source, "recordId">): Effect.fn.Return<GitAccess | undefined, SealBroken | StorageFault, SecretStore | Sources> {
  const sources = yield* Sources
  const secrets = yield* SecretStore
  const sealed = yield* sources.access(recordId)
  if (sealed === undefined) return undefined
  // we wrote it ourselves, and the seal proves that nobody changed it
  const plain = JSON.parse(yield* secrets.open(sealed, sourceAccessContext(recordId))) as Plain
  return plain.type === "token"
    ? { ...plain, token: Redacted.make(plain.token) }
    : { ...plain, privateKey: Redacted.make(plain.privateKey) }
})
