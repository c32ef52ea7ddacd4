import type { CredentialHasher, SecretStore, TokenSigner } from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { credentialHasherLayer } from "./credential-hasher.ts"
import type { MasterKey } from "./master-key.ts"
import { secretStoreLayer } from "./secret-store.ts"
import { tokenSignerLayer } from "./token-signer.ts"

/** Everything secret that the application asks for, from the installation's one key. */
export const cryptoLayer = (master: MasterKey): Layer.Layer<CredentialHasher | SecretStore | TokenSigner> =>
  Layer.mergeAll(credentialHasherLayer(master), secretStoreLayer(master), tokenSignerLayer(master))
