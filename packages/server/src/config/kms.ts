import type { KmsSettings } from "@rangewright/application"
import { isVmid, productKeyForm, productKeyIn, readKmsHost } from "@rangewright/domain"
import type { Keys } from "./keys.ts"

/** What the configuration says of activation. */
export type KmsConfig = { readonly [K in (keyof Keys & `kms${string}`) | "protectedAddresses"]: Keys[K]["fallback"] }

/** What is wrong with the keys of activation, a line each. The product key is never told. */
export const kmsProblems = ({ kmsHost, kmsServer, kmsHostKey, protectedAddresses }: KmsConfig): readonly string[] => {
  const host = kmsHost === undefined ? undefined : readKmsHost(kmsHost, protectedAddresses)
  return [
    ...(host !== undefined && "problem" in host ? [`kms_host: ${host.problem}`] : []),
    ...((kmsServer === undefined) === (kmsHostKey === undefined) ? [] : ["kms_server and kms_host_key: give both or none"]),
    ...(kmsHostKey === undefined || productKeyIn(kmsHostKey) !== undefined ? [] : [`kms_host_key: ${productKeyForm}`]),
  ]
}

/** How machines are activated; undefined: they are not. */
export const kmsOf = ({ kmsHost, kmsServer, kmsHostKey, protectedAddresses }: KmsConfig): KmsSettings | undefined => {
  const host = kmsHost === undefined ? undefined : readKmsHost(kmsHost, protectedAddresses)
  if (host === undefined && kmsServer === undefined) return undefined
  return {
    host: host !== undefined && "value" in host ? host.value : undefined,
    server: kmsServer !== undefined && isVmid(kmsServer) ? kmsServer : undefined,
    hostKey: kmsHostKey === undefined ? undefined : productKeyIn(kmsHostKey),
  }
}
