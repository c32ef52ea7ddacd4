import { createHash } from "node:crypto"
import ssh2 from "ssh2"

/** A host key with its fingerprint, by which clients pin it: `SHA256:` and unpadded base64. */
export interface HostKey {
  readonly privateKey: string
  readonly fingerprint: string
}

/** Makes an ECDSA host key. */
export const makeHostKey = (): HostKey => {
  const { private: privateKey } = ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 })
  const parsed = ssh2.utils.parseKey(privateKey)
  if (parsed instanceof Error || Array.isArray(parsed)) throw new Error("the host key that was just made cannot be read")
  const digest = createHash("sha256").update(parsed.getPublicSSH()).digest("base64").replace("=", "")
  return { privateKey, fingerprint: `SHA256:${digest}` }
}
