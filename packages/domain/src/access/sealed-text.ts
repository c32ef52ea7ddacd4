import type { RecordId, UserId } from "./ids.ts"

/** A sealed text that names the key it was sealed with. Texts of the first layout, `v1.<bytes>`, name none. */
export const sealedText = (keyId: string, bytes: string): string => `v2.${keyId}.${bytes}`

/** The id of the key that sealed a text: 8 characters of base64url; undefined where the text names none. */
export const sealingKeyOf = (sealed: string): string | undefined => /^v2\.([\w-]{8})\./u.exec(sealed)?.[1]

/** What a user's sealed password is bound to: it cannot be opened for another user. Part of the stored format. */
export const userPasswordContext = (userId: UserId): string => `password of ${userId}`

/** What the sealed access to a source's repository is bound to. Part of the stored format. */
export const sourceAccessContext = (recordId: RecordId): string => `access of source ${recordId}`
