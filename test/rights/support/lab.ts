import { writeEntry } from "@rangewright/adapter-memory"
import type { AccountId, RangeId, UserId } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import { foreign, problemsOf } from "./facts.ts"
import { boot, call, type Call, copySite, makeSite, type Site, sleep, stop } from "./site.ts"

const config = `ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: "{{ range_id }}-WEB"
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 5
    ram_gb: 1
    cpus: 1
    linux: true
`

/** Foreign objects on the same cluster: an account with its right, a group, a pool, and what was granted to bob. */
const plantOthers = ({ world }: Site): void => {
  world.groups.set(foreign.group, { ours: false })
  world.pools.add(foreign.pool as RangeId)
  world.othersPools.add(foreign.pool as RangeId)
  world.accounts.set(foreign.account as AccountId, {
    ours: false,
    password: "carol's own",
    groups: new Set([foreign.group]),
    passwordObstacle: undefined,
  })
  const subject = { type: "user", name: foreign.account } as const
  writeEntry(world, { path: `/pool/${foreign.pool}`, role: "PVEVMAdmin", subject, propagate: true })
  writeEntry(world, { path: "/vms/100", role: "PVEVMUser", subject, propagate: true })
}

/**
 * BOSS and ANN are administrators; BOB, CAT and DAN are not. Each of all but BOSS has a default range. BOB has LAB, which is deployed, with its
 * router; CAT has it too. DEN is BOB's and has no machines. The group TEAM of BOB and its manager CAT has DEN and the range ANN; the group CREW
 * of ANN has LAB; the group IDLE is empty.
 */
const makeBase = async (): Promise<Site> => {
  const site = makeSite()
  const process = boot(site, { background: true })
  const must = async (asked: Call): Promise<void> => {
    const answer = await call(process, asked)
    if (answer?.ok !== true) throw new Error(`${asked.id}: ${answer?.fault?.message ?? "nothing to ask"}`)
  }
  await process.runtime.runPromise(
    Users.use((users) =>
      users.create({
        id: "BOSS" as UserId,
        recordId: "boss00000000000" as never,
        name: "Boss",
        email: "boss@lab.example",
        isAdmin: true,
        hypervisorUsername: "boss",
        hypervisorRealm: "pve",
        secrets: { apiKeyHash: undefined, sealedPassword: "x\nBoss-1-password", tokenKey: "t" },
        createdAt: new Date(0),
      }),
    ),
  )
  for (const id of ["ANN", "BOB", "CAT", "DAN"])
    await must({
      id: "addUser",
      as: "BOSS",
      body: {
        name: id.toLowerCase(),
        userID: id,
        email: `${id}@lab.example`,
        password: `First-${id}-password-1`,
        isAdmin: id === "ANN",
      },
    })
  plantOthers(site)
  const bob = site.world.accounts.get("bob@pve" as AccountId)
  bob?.groups.add(foreign.group)
  writeEntry(site.world, {
    path: "/vms/101",
    role: "PVEVMUser",
    subject: { type: "user", name: "bob@pve" },
    propagate: true,
  })
  await must({ id: "createRange", as: "BOSS", body: { name: "Lab", rangeID: "LAB", userID: ["BOB", "CAT"] } })
  await must({ id: "createRange", as: "BOSS", body: { name: "Den", rangeID: "DEN", userID: ["BOB"] } })
  await process.runtime.runPromise(Ranges.use((ranges) => ranges.setConfig("LAB" as RangeId, config)))
  await must({ id: "deployRange", as: "BOB", range: "LAB" })
  await sleep(process, 3600)
  await must({ id: "createGroup", as: "BOSS", body: { name: "IDLE" } })
  await must({ id: "createGroup", as: "BOSS", body: { name: "TEAM" } })
  await must({ id: "addUsersToGroup", as: "BOSS", group: "TEAM", body: { userIDs: ["BOB", "CAT"], managers: ["CAT"] } })
  await must({ id: "addRangesToGroup", as: "BOSS", group: "TEAM", body: { rangeIDs: ["DEN", "ANN"] } })
  await must({ id: "createGroup", as: "BOSS", body: { name: "CREW" } })
  await must({ id: "addUsersToGroup", as: "BOSS", group: "CREW", body: { userIDs: ["ANN"] } })
  await must({ id: "addRangesToGroup", as: "BOSS", group: "CREW", body: { rangeIDs: ["LAB"] } })
  await sleep(process, 60)
  await stop(process)
  // a router needs a few seconds to load new rules
  site.world.durations = { ...site.world.durations, stage: 3 }
  const { calls } = site.world
  const told = calls
    .filter(({ method, action }) => method === "dispatch" && action?.kind === "guest" && action.stage === "firewall")
    .slice(-1)
  calls.splice(0, calls.length, ...told)
  site.store.runs.clear()
  site.store.audit.length = 0
  const problems = await problemsOf(site)
  if (problems.length > 0) throw new Error(`the lab is not in line:\n${problems.join("\n")}`)
  return site
}

let base: Promise<Site> | undefined

/** Makes a lab for one test. */
export const makeLab = async (): Promise<Site> => copySite(await (base ??= makeBase()))
