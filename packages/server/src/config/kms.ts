import type { KmsSettings } from "@rangewright/application"
import { productKeyForm, productKeyIn, readKmsHost, readKmsServer } from "@rangewright/domain"
import type { Keys } from "./keys.ts"

/** The configuration keys for activation. */
export type KmsConfig = { readonly [K in (keyof Keys & `kms${string}`) | "protectedAddresses"]: Keys[K]["fallback"] }

const read = ({ kmsHost, kmsServer, protectedAddresses }: KmsConfig) => ({
  host: kmsHost === undefined ? undefined : readKmsHost(kmsHost, protectedAddresses),
  server: kmsServer === undefined ? undefined : readKmsServer(kmsServer),
})

/** What is wrong with the keys for activation, one line each. Never shows the product key. */
export const kmsProblems = (config: KmsConfig): readonly string[] => {
  const { kmsServer, kmsHostKey } = config
  const { host, server } = read(config)
  return [
    ...(host !== undefined && "problem" in host ? [`kms_host: ${host.problem}`] : []),
    ...(server !== undefined && "problem" in server ? [`kms_server: ${server.problem}`] : []),
    ...((kmsServer === undefined) === (kmsHostKey === undefined) ? [] : ["kms_server and kms_host_key: set both or neither"]),
    ...(kmsHostKey === undefined || productKeyIn(kmsHostKey) !== undefined ? [] : [`kms_host_key: ${productKeyForm}`]),
  ]
}

/** How machines are activated; undefined when they are not. */
export const kmsOf = (config: KmsConfig): KmsSettings | undefined => {
  const { host, server } = read(config)
  if (host === undefined && server === undefined) return undefined
  return {
    host: host !== undefined && "value" in host ? host.value : undefined,
    server: server !== undefined && "value" in server ? server.value : undefined,
    hostKey: config.kmsHostKey === undefined ? undefined : productKeyIn(config.kmsHostKey),
  }
}
