import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"

/** A certificate with its key, and its SHA-256 fingerprint in the API's format. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  readonly fingerprint: string
}

const withFingerprint = (key: string, cert: string): Certificate => ({
  key,
  cert,
  fingerprint: new X509Certificate(cert).fingerprint256,
})

/** Creates a self-signed certificate for the given names and addresses, valid for ten years. */
export const makeCertificate = async (names: readonly string[], addresses: readonly string[]): Promise<Certificate> => {
  const notBeforeDate = new Date(Date.now() - 24 * 3600 * 1000)
  const notAfterDate = new Date(Date.now() + 3650 * 24 * 3600 * 1000)
  // takes long to load, and is needed once at most
  const { generate } = await import("selfsigned")
  const made = await generate([{ name: "commonName", value: names[0] ?? "pve" }], {
    keyType: "ec",
    algorithm: "sha256",
    notBeforeDate,
    notAfterDate,
    extensions: [
      { name: "basicConstraints", cA: false },
      {
        name: "subjectAltName",
        altNames: [...names.map((value) => ({ type: 2 as const, value })), ...addresses.map((ip) => ({ type: 7 as const, ip }))],
      },
    ],
  })
  return withFingerprint(made.private, made.cert)
}

/** The certificate from a file of mode 0600, created on first use, so that clients that pinned it still work after a restart. */
export const keepCertificate = async (file: string, make: () => Promise<Certificate>): Promise<Certificate> => {
  if (!existsSync(file)) {
    const { key, cert } = await make()
    writeFileSync(`${file}.new`, `${key.trim()}\n${cert.trim()}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  const [key = "", cert = ""] = readFileSync(file, "utf8").split(/(?=-----BEGIN CERTIFICATE-----)/u)
  return withFingerprint(key, cert)
}
