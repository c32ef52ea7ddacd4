import type { HypervisorReason } from "@rangewright/ports"

/** `guest-off`: the VM is not running. `silent-guest`: its guest agent does not answer (yet). Everything else is a reason of the port. */
export type Verdict = HypervisorReason | "guest-off" | "silent-guest"

interface Rule {
  readonly text: RegExp
  /** Calls the rule applies to, as `METHOD /path`; all when absent. */
  readonly call?: RegExp
  readonly verdict: Verdict
  readonly hint?: string
  /** Set when the call certainly had no effect and the cause is temporary: even a changing call is then sent again. */
  readonly again?: Patience
}

/** How long a call is retried automatically: `short` for answers that were slow or lost, `long` for those that come at once. */
export type Patience = "none" | "short" | "long"

/**
 * What Proxmox's messages mean. Most failures are a 500 with a sentence, and tasks end with the same sentences, so this list is the only
 * place that matches texts. The first matching rule decides. Match fragments, never whole sentences: file names and line numbers may
 * follow. Names in messages are chosen by users: a fragment must not be a possible name of a snapshot, VM, pool or user, so it has a space or
 * a character that these cannot have.
 */
const rules: readonly Rule[] = [
  // the rest of these is the guest's own, and may be anything. Newer versions say qga
  { text: /q(?:mp|ga) command 'guest-[^']*' failed/u, call: /\/agent\//u, verdict: "silent-guest" },
  { text: /Agent error: /u, call: /\/agent\//u, verdict: "failed" },
  {
    text: /\bno quorum\b|cluster not ready/iu,
    verdict: "no-quorum",
    hint: "Bring the missing nodes of the cluster back.",
    again: "long",
  },
  {
    text: /ipcc_send_rec\[|Transport endpoint is not connected|unable to load access control list|cluster filesystem not online/iu,
    verdict: "away",
    hint: "The node's cluster file system (pmxcfs) does not answer; check the service pve-cluster on the node.",
    again: "long",
  },
  {
    // work under a lock of the cluster may take 60 s, and is interrupted then, wherever it is
    text: /-locked command timed out/iu,
    verdict: "unknown-effect",
    hint: "The hypervisor interrupted the change after 60 s under the cluster's lock: its storage or cluster network is slow. It is repeated.",
  },
  {
    text: /\/pve-storage-|cfs-lock 'storage-/iu,
    verdict: "locked",
    hint: "Another volume is being created on the storage; it is retried.",
    again: "short",
  },
  {
    text: /VM is locked/iu,
    verdict: "locked",
    hint: "Another change has locked the VM; it is retried. Remove a stale lock on the node with: qm unlock <vmid>",
  },
  {
    text: /can't lock file|got lock request timeout|can't acquire (?:cfs )?lock|unable to acquire (?:pmxcfs )?lock/iu,
    verdict: "locked",
    hint: "Another change was in progress the whole time; it is retried.",
    again: "short",
  },
  {
    text: /invalid lock token|could not acquire lock for SDN/iu,
    verdict: "locked",
    hint: "The SDN configuration is locked; the change is retried when the lock is released.",
  },
  { text: /checksum mismatch|detected modified configuration/iu, verdict: "locked", hint: "It was changed in the meantime." },
  // a worker that its parent gave up on ends before doing anything
  { text: /got no worker upid|start worker failed|proxy loop detected/iu, verdict: "away", again: "long" },
  { text: /received interrupt|interrupted by signal|^unexpected status$/iu, verdict: "unknown-effect" },
  {
    text: /hostname lookup .* failed/iu,
    verdict: "away",
    hint: "Check whether the node is still in the cluster (GET /nodes).",
    again: "short",
  },
  {
    text: /VM \d+ (?:is )?not running/u,
    call: /\/agent\//u,
    verdict: "guest-off",
  },
  {
    text: /QEMU guest agent is not running/u,
    call: /\/agent\//u,
    verdict: "silent-guest",
  },
  {
    text: /No QEMU guest agent configured/u,
    verdict: "invalid",
    hint: "Build the template with the guest agent enabled (agent: 1) and installed.",
  },
  { text: /config file already exists|VM \d+ already exists/u, verdict: "taken" },
  { text: /tag \d+ already exist/iu, verdict: "taken", hint: "Choose another tag base or remove the VNet that uses the tag." },
  { text: /already exists|already defined/iu, verdict: "taken" },
  { text: /is not empty \(contains/u, verdict: "failed", hint: "Remove or move its members first." },
  { text: /Configuration file '[^']*' does not exist|unable to find configuration file/u, verdict: "not-found" },
  { text: /snapshot '[^']*' does not exist/u, call: /^GET /u, verdict: "not-found" },
  { text: /no such task/iu, verdict: "not-found" },
  { text: /pool '[^']*' does not exist/u, call: /^(?:GET|PUT|DELETE) \/pools/u, verdict: "not-found" },
  { text: /no such user|user '[^']*' does not exist/u, call: /^(?:GET|PUT|DELETE) \/access/u, verdict: "not-found" },
  { text: /group '[^']*' does not exist/u, call: /^(?:GET|PUT|DELETE) \/access\/(?:groups|acl)/u, verdict: "not-found" },
  { text: /no such token/u, call: /^PUT \/access\/acl/u, verdict: "not-found" },
  { text: /\bsdn (?:[a-z]+ )*'[^']*' does not exist/u, call: /^(?:GET|PUT|DELETE) /u, verdict: "not-found" },
  { text: /interface does not exist/u, call: /^(?:GET|PUT|DELETE) \/nodes\/[^/]*\/network\//u, verdict: "not-found" },
  {
    text: /no space left|out of space|not enough (?:space|memory)|data percentage|insufficient (?:free|disk|memory|space|resources)/iu,
    verdict: "exhausted",
  },
  {
    text: /bridge '[^']*' does not exist|network script \S+ failed with status 512/u,
    verdict: "failed",
    hint: "The VM's node lacks the network: apply the node's network (in a cluster Datacenter > SDN > Apply), then deploy again.",
  },
  {
    // QEMU only reports the exit status of the network script: 65280 is this one
    text: /no physical interface on bridge|network script \S+ failed with status 65280/u,
    verdict: "failed",
    hint: "Make the bridge VLAN-aware on the node (System > Network > the bridge > VLAN aware, then Apply Configuration): the VM's card has a VLAN tag.",
  },
  { text: /does not exist|no such|cannot lookup undefined type/iu, verdict: "invalid" },
  { text: /is not supported|not allowed for linked clones|uses local storage|non-shared storage/iu, verdict: "invalid" },
  {
    text: /quit\/powerdown failed/u,
    verdict: "failed",
    hint: "The guest did not shut down in time; power it off to continue.",
  },
  {
    text: /in error state, must be disabled/u,
    verdict: "failed",
    hint: "High availability has given up on the VM: see its tasks for the reason, set it to disabled and then to started (Datacenter > HA).",
  },
  { text: /protection mode enabled/u, verdict: "failed", hint: "Remove the protection flag of the VM." },
  {
    text: /you need ifupdown2/u,
    verdict: "failed",
    hint: "Install ifupdown2 on the node (apt install ifupdown2): networks cannot be applied without it.",
  },
  // these requests cannot be wrong: whatever the message is, the trouble is the hypervisor's own
  { text: /^/u, call: /^GET \/(?:cluster\/(?:resources|status|tasks)|nodes|version)$/u, verdict: "away", again: "long" },
]

export interface Classified {
  readonly verdict: Verdict
  readonly hint: string | undefined
}

/** What an answer with an error status means, and whether the call is retried automatically. */
export interface ClassifiedAnswer extends Classified {
  readonly again: Patience
}

const byText = (text: string, call: string): Rule | undefined =>
  rules.find((rule) => rule.text.test(text) && (rule.call === undefined || rule.call.test(call)))

/** Classifies a task's exit status other than `OK` or `WARNINGS: n`. The task has ended: waiting for it again would be of no use. */
export const classifyTask = (text: string): Classified => {
  const { verdict = "failed", hint } = byText(text, "task") ?? {}
  return { verdict: verdict === "away" || verdict === "no-quorum" ? "unknown-effect" : verdict, hint }
}

/**
 * Classifies an answer with an error status. `mutating` decides what a lost answer means: 595 comes only while the connection to the node
 * is being opened, so nothing happened; 596 and a gateway's own errors may come after the request was passed on. A read that fails for an
 * unknown reason is retried, a change is not.
 */
export const classifyAnswer = (answer: {
  readonly status: number
  readonly text: string
  /** `METHOD /path`. */
  readonly call: string
  readonly mutating: boolean
}): ClassifiedAnswer => {
  const lost: ClassifiedAnswer = answer.mutating
    ? { verdict: "unknown-effect", hint: undefined, again: "none" }
    : { verdict: "away", hint: undefined, again: "short" }
  switch (answer.status) {
    case 401:
      return {
        verdict: "unauthenticated",
        hint: "Check the token's id and secret, and that neither it nor its user is disabled or expired.",
        again: "none",
      }
    case 403:
      return {
        verdict: "forbidden",
        hint: "Give the service's account this privilege; `doctor` lists all that are needed.",
        again: "none",
      }
    case 301:
    case 302:
    case 307:
    case 308:
      return {
        verdict: "invalid",
        hint: "It answers with a redirect. Write https:// and the node's own name or address in proxmox_url.",
        again: "none",
      }
    case 595:
      return { verdict: "away", hint: undefined, again: "short" }
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
    case 596:
    case 597:
    case 598:
    case 599:
      return lost
    default: {
      const rule = byText(answer.text, answer.call)
      if (rule?.verdict === "unknown-effect") return { ...lost, hint: rule.hint }
      if (rule !== undefined) return { verdict: rule.verdict, hint: rule.hint, again: rule.again ?? "none" }
      if (answer.status < 500 || answer.status === 501 || answer.status === 506)
        return { verdict: "invalid", hint: undefined, again: "none" }
      return { verdict: "failed", hint: undefined, again: answer.mutating ? "none" : "long" }
    }
  }
}
