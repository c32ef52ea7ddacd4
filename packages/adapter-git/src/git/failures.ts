import { ContentFault, type ContentReason } from "@rangewright/ports"

interface Translation {
  readonly reason: ContentReason
  readonly detail: string
  readonly rule?: string
  readonly hint?: string
}

/** The rule of a failure to fetch into a cache that was made for the other form of object names. */
export const objectFormat = "object-format"

/** Messages of git and ssh with LC_ALL=C. The first match counts: causes come before their consequences. */
const translations: readonly (readonly [RegExp, Translation])[] = [
  [
    /No space left on device|Disk quota exceeded/u,
    {
      reason: "unavailable",
      detail: "the service's disk is full",
      hint: "Free space in the service's data folder, then try again.",
    },
  ],
  [
    /dubious ownership/u,
    { reason: "unavailable", rule: "owner", detail: "the repository's folder belongs to another user of the service's host" },
  ],
  [
    /No user exists for uid/u,
    {
      reason: "unavailable",
      rule: "account",
      detail: "ssh refuses to run, because the service's account has no entry in /etc/passwd",
      hint: "Add the account to /etc/passwd, or install bubblewrap: in its sandbox ssh needs no entry.",
    },
  ],
  [
    /died of signal 25|File too large|exceeds maximum/u,
    { reason: "too-large", rule: "transfer", detail: "the repository is larger than allowed" },
  ],
  [
    /out of memory|Out of memory|mmap failed: Cannot allocate/u,
    { reason: "too-large", rule: "memory", detail: "the repository needs more memory than git may use" },
  ],
  [
    /requested URL returned error: 30[12378]|unable to update url base from redirection/u,
    {
      reason: "refused",
      rule: "redirect",
      detail: "its server redirects to another address",
      hint: "Use the address that it redirects to.",
    },
  ],
  [
    /Host key verification failed|host key is known/u,
    {
      reason: "refused",
      rule: "host-key",
      detail: "its server's host key is not the pinned one",
      hint: "Compare the fingerprint with the one that the server's operator publishes; pin the ed25519 key where there is one.",
    },
  ],
  [
    /could not read (?:Username|Password)|terminal prompts disabled/u,
    {
      reason: "unauthenticated",
      detail: "its server requires credentials",
      hint: "Give the source a token or an SSH key. Some servers also answer like this if the repository does not exist.",
    },
  ],
  [
    /Authentication failed|Permission denied|requested URL returned error: 40[13]|Access denied/u,
    { reason: "unauthenticated", detail: "its server refused the credentials" },
  ],
  [
    /couldn't find remote ref|Needed a single revision|not our ref|unadvertised object|Remote branch .* not found/u,
    {
      reason: "not-found",
      rule: "ref",
      detail: "the repository has no such branch, tag or commit",
      hint: "Give a commit's full hash of 40 digits.",
    },
  ],
  [
    /repository '.*' not found|requested URL returned error: 404|does not appear to be a git repository|Repository not found/iu,
    { reason: "not-found", rule: "repository", detail: "there is no such repository" },
  ],
  [/Operation too slow|Timeout, server|timed out/iu, { reason: "timeout", detail: "its server did not answer in time" }],
  // before the certificate: libraries also mention themselves when a connection breaks
  [
    /Empty reply|recv error|SSL_read|SSL_write|(?:Recv|Send) failure|non-properly terminated|SSL_ERROR_SYSCALL/iu,
    { reason: "unreachable", detail: "its server cannot be reached, or closed the connection" },
  ],
  [/certificate|SSL/u, { reason: "unreachable", rule: "certificate", detail: "its server's certificate is not trusted" }],
  [
    /Could not resolve|Failed to connect|Couldn't connect|Connection (?:refused|reset|closed)|unreachable|No route to host|hung up|early EOF|unexpected disconnect|RPC failed|(?:error:|response|HTTP code) 50[0234]/iu,
    { reason: "unreachable", detail: "its server cannot be reached, or closed the connection" },
  ],
  [
    /mismatched algorithms/u,
    { reason: "broken", rule: objectFormat, detail: "the names of its objects have another length than those of its cache" },
  ],
  [/transport '.*' not allowed/u, { reason: "refused", rule: "scheme", detail: "its transport is not allowed" }],
  [
    /fsck error|in fsck|bad (?:object|pack|tree)|index-pack failed|corrupt|inflate|invalid|unpack-objects/iu,
    { reason: "broken", rule: "fsck", detail: "the repository is damaged, or git considers it an attack" },
  ],
]

/** The most informative line of git's own, without anything that could be a secret or a second line. */
const lastWords = (errors: string): string => {
  const line =
    errors
      .split("\n")
      .filter((text) => /^(?:fatal|error):/u.test(text))
      .at(-1) ??
    errors.trim().split("\n").at(-1) ??
    ""
  const masked = line.replace(/\/\/[^/\s]*@/gu, "//***@")
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return masked.replace(/[\u0000-\u001f\u007f]/gu, " ").slice(0, 300)
}

/** Removes quoted URLs, which must not match: a repository may be called `invalid` or `certificates`. */
const withoutUrls = (errors: string): string => errors.replace(/'[^'\n]*:\/\/[^'\n]*'/gu, "'it'")

/** Why git failed. `errors` is the tail of its output, shown to people only when nothing better is known. */
export const failureOf = (doing: string, code: number | null, errors: string): ContentFault => {
  const said = withoutUrls(errors)
  const known = translations.find(([pattern]) => pattern.test(said))
  if (known !== undefined) return new ContentFault({ doing, ...known[1] })
  const words = lastWords(errors)
  return new ContentFault({
    doing,
    reason: "broken",
    detail: `git ended with ${code ?? "a signal"}${words === "" ? "" : `: ${words}`}`,
  })
}
