import { X509Certificate } from "node:crypto"
import selfsigned from "selfsigned"

/** A certificate with its key, and its SHA-256 fingerprint in the form of the API. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  readonly fingerprint: string
}

/** Makes a self-signed certificate for the given names and addresses, good for ten years. */
export const makeCertificate = async (names: readonly string[], addresses: readonly string[]): Promise<Certificate> => {
  const notBeforeDate = new Date(Date.now() - 24 * 3600 * 1000)
  const notAfterDate = new Date(Date.now() + 3650 * 24 * 3600 * 1000)
  const made = await selfsigned.generate([{ name: "commonName", value: names[0] ?? "pve" }], {
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
  return { key: made.private, cert: made.cert, fingerprint: new X509Certificate(made.cert).fingerprint256 }
}
