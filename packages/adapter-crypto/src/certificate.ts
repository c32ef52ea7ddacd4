import * as Effect from "effect/Effect"
import { X509Certificate } from "node:crypto"
import { isIP } from "node:net"
import { KeyUnusable } from "./faults.ts"
import { loadOrCreateSecretFile } from "./secret-file.ts"

/** Certificate and private key, PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

const years = 10

const newPem = (names: readonly string[], now: Date): Effect.Effect<string> =>
  Effect.promise(async () => {
    // loads a hundred modules for one certificate in ten years
    const { generate } = await import("selfsigned")
    const notAfterDate = new Date(now)
    notAfterDate.setUTCFullYear(now.getUTCFullYear() + years)
    const made = await generate([{ name: "commonName", value: names[0] ?? "rangewright" }], {
      keyType: "ec",
      curve: "P-256",
      algorithm: "sha256",
      notBeforeDate: now,
      notAfterDate,
      extensions: [
        { name: "basicConstraints", cA: false, critical: true },
        { name: "keyUsage", digitalSignature: true, critical: true },
        { name: "extKeyUsage", serverAuth: true },
        {
          name: "subjectAltName",
          altNames: names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name })),
        },
      ],
    })
    return `${made.private.trim()}\n${made.cert.trim()}\n`
  })

const pemPart = (text: string, kind: RegExp): string | undefined => kind.exec(text)?.[0]

/**
 * The service's own certificate: EC P-256, ten years, valid for `names` (host names and addresses). One file of mode 0600 holds key and
 * certificate, so that they stay together; it is created once and then reused, even if `names` changes, because clients may have pinned it.
 * Fails when the file is readable by others, contains no pair, or the certificate has expired.
 */
export const loadOrCreateCertificate = (
  path: string,
  names: readonly string[],
  now: Date,
): Effect.Effect<Certificate, KeyUnusable> =>
  Effect.gen(function* () {
    const text = yield* loadOrCreateSecretFile(path, newPem(names, now))
    const key = pemPart(text, /-----BEGIN (?:EC |RSA )?PRIVATE KEY-----[\s\S]+?-----END (?:EC |RSA )?PRIVATE KEY-----/u)
    const cert = pemPart(text, /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/u)
    const hint = `Remove ${path} to have a new one created, or configure your own certificate.`
    if (key === undefined || cert === undefined)
      return yield* new KeyUnusable({ what: path, because: "it does not contain a key and a certificate", hint })
    const until = yield* Effect.try({
      try: () => new X509Certificate(cert).validToDate,
      catch: () => new KeyUnusable({ what: path, because: "its certificate cannot be read", hint }),
    })
    if (until <= now)
      return yield* new KeyUnusable({ what: path, because: `its certificate expired on ${until.toISOString()}`, hint })
    return { cert, key }
  })

/** SHA-256 fingerprint of a PEM certificate as operators compare it: upper-case hex pairs separated by colons. */
export const fingerprintOf = (cert: string): string => new X509Certificate(cert).fingerprint256
