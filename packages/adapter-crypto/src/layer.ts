import type { CredentialHasher, SecretStore, TokenSigner, VpnKeys } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { credentialHasherLayer, firstHashKey } from "./credential-hasher.ts"
import type { MasterKey } from "./master-key.ts"
import { secretStoreLayer } from "./secret-store.ts"
import { tokenSignerLayer } from "./token-signer.ts"
import { vpnKeysLayer } from "./vpn-keys.ts"

/** All services that deal with secrets, from the installation's one key and the key for hashing API keys. */
export const cryptoLayer = (
  master: MasterKey,
  hashKey = firstHashKey(master),
): Layer.Layer<CredentialHasher | SecretStore | TokenSigner | VpnKeys> =>
  Layer.mergeAll(credentialHasherLayer(hashKey), secretStoreLayer(master), tokenSignerLayer(master), vpnKeysLayer)
