import type { UserId } from "../access/ids.ts"

/** A user's VPN key pair as stored. */
export interface VpnKey {
  /** As `wg pubkey` prints it. */
  readonly publicKey: string
  /** The private key, sealed. */
  readonly sealed: string
}

/** The context that a user's sealed private key is bound to. Part of the stored format. */
export const vpnKeyContext = (userId: UserId): string => `VPN key of ${userId}`

/** Whether a text is a key as WireGuard writes it: 32 bytes in base64. */
export const isVpnKey = (text: string): boolean => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/u.test(text)
