const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const dnsName = new RegExp(`^(?:${label}\\.)+(?=[a-z])${label}$`, "iu")

/** True for a fully qualified host name in DNS without a trailing dot: two labels or more, the last of which begins with a letter. */
export const isDnsName = (text: string): boolean => text.length <= 253 && dnsName.test(text)
