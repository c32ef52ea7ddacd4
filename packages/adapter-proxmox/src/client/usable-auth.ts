import * as Redacted from "effect/Redacted"
import type { PveAuth } from "./credentials.ts"

const user = String.raw`[^\s:/]+@[A-Za-z][\w.-]*`
const userId = new RegExp(`^${user}$`, "u")
const tokenId = new RegExp(`^${user}![A-Za-z][\\w.-]*$`, "u")

const require = (holds: boolean, problem: string): void => {
  if (!holds) throw new RangeError(`Cannot log in to Proxmox: ${problem}`)
}

/**
 * The credentials without what reading them from a file leaves around them: spaces and line ends around a token, the end of the line after
 * a password, which may begin or end with spaces. Throws a RangeError that names the setting, never its value, for what cannot be any.
 */
export const usableAuth = (auth: PveAuth): PveAuth => {
  if (auth.type === "password") {
    require(Redacted.isRedacted(auth.password), "auth.password is not Redacted: pass Redacted.make(text)")
    const [username, password] = [auth.username.trim(), Redacted.value(auth.password).replace(/\r?\n$/u, "")]
    require(userId.test(username), "auth.username is not user@realm")
    require(password !== "", "auth.password is empty")
    return { type: "password", username, password: Redacted.make(password) }
  }
  require(Redacted.isRedacted(auth.secret), "auth.secret is not Redacted: pass Redacted.make(text)")
  const [id, secret] = [auth.id.trim(), Redacted.value(auth.secret).trim()]
  require(tokenId.test(id), "auth.id is not user@realm!name")
  require(secret !== "", "auth.secret is empty")
  require(/^[!-~]+$/u.test(secret), "auth.secret contains characters that a token's secret cannot contain")
  return { type: "token", id, secret: Redacted.make(secret) }
}
