import type { RecordId, UserId } from "./ids.ts"

/** A sealed text with the id of its key. Texts in the first format, `v1.<bytes>`, have none. */
export const sealedText = (keyId: string, bytes: string): string => `v2.${keyId}.${bytes}`

/** The id of the key that sealed a text: 8 characters of base64url; undefined if the text has none. */
export const sealingKeyOf = (sealed: string): string | undefined => /^v2\.([\w-]{8})\./u.exec(sealed)?.[1]

/** The context of a user's sealed password: it cannot be opened for another user. Part of the stored format. */
export const userPasswordContext = (userId: UserId): string => `password of ${userId}`

/** The context of the sealed credentials of a source's repository. Part of the stored format. */
export const sourceAccessContext = (recordId: RecordId): string => `access of source ${recordId}`
