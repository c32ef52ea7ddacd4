import { AsnConvert } from "@peculiar/asn1-schema"
import {
  AuthorityInfoAccessSyntax,
  Certificate,
  CRLDistributionPoints,
  id_ad_ocsp,
  id_ce_cRLDistributionPoints,
  id_pe_authorityInfoAccess,
} from "@peculiar/asn1-x509"
import { isDnsName } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { X509Certificate } from "node:crypto"
import { dialOf, type InternetOptions, timeoutOf, usable } from "./options.ts"
import { tlsChain } from "./tls-chain.ts"

const mostHosts = 20

const urlsOf = (certificate: X509Certificate): readonly string[] => {
  const { extensions = [] } = AsnConvert.parse(certificate.raw, Certificate).tbsCertificate
  return extensions
    .flatMap(({ extnID, extnValue }) => {
      if (extnID === id_ce_cRLDistributionPoints)
        return AsnConvert.parse(extnValue, CRLDistributionPoints).flatMap(
          ({ distributionPoint }) => distributionPoint?.fullName ?? [],
        )
      if (extnID === id_pe_authorityInfoAccess)
        return AsnConvert.parse(extnValue, AuthorityInfoAccessSyntax)
          .filter(({ accessMethod }) => accessMethod === id_ad_ocsp)
          .map(({ accessLocation }) => accessLocation)
      return []
    })
    .flatMap(({ uniformResourceIdentifier }) => uniformResourceIdentifier ?? [])
}

const hostOf = (text: string): readonly string[] => {
  const url = URL.parse(text)
  return url !== null && ["http:", "https:"].includes(url.protocol) && isDnsName(url.hostname) ? [url.hostname] : []
}

/** The hosts of the certificates' revocation lists and OCSP responders, without duplicates. */
export const hostsOf = (certificates: readonly X509Certificate[]): readonly string[] =>
  [...new Set(certificates.flatMap(urlsOf).flatMap(hostOf))].slice(0, mostHosts)

export const revocationHosts = (options: InternetOptions, name: string, address: string): Effect.Effect<readonly string[]> =>
  Effect.tryPromise(async (signal) => {
    const { internet = true, ca } = options
    if (!internet || !isDnsName(name) || (await usable([address], options)).length === 0) return []
    return hostsOf(await tlsChain({ name, address, dial: dialOf(options), ...(ca === undefined ? {} : { ca }) }, signal))
  }).pipe(
    Effect.timeout(timeoutOf(options)),
    // a server without HTTPS, or with an untrusted certificate, is allowed all the same
    Effect.orElseSucceed(() => []),
  )
