import { expect, it } from "vitest"
import { shown } from "./support/facts.ts"
import { boot, call, sleep, stop } from "./support/site.ts"
import { accessListAt, giveAsRoot, makeWireSite, mayOn } from "./support/wire.ts"

it("an entry that hides a range from its own user is removed on Proxmox; a foreign account's entry stays and is reported", async () => {
  const site = await makeWireSite()
  await giveAsRoot(site, "path=/pool/DEN&roles=NoAccess&users=bob@pve")
  await giveAsRoot(site, "path=/pool/DEN&roles=PVEAuditor&users=cat@pve")
  await giveAsRoot(site, "path=/pool/HUT&roles=Administrator&users=bob@pve")
  await giveAsRoot(site, "path=/pool/DEN&roles=Administrator&users=carol@pve")
  expect([await mayOn(site, "bob@pve", "/pool/DEN"), await mayOn(site, "bob@pve", "/pool/HUT")]).toEqual([false, true])
  const process = boot(site, { background: true })
  await sleep(process, 60)
  expect(await mayOn(site, "bob@pve", "/pool/DEN")).toBe(true)
  expect(await mayOn(site, "cat@pve", "/pool/DEN")).toBe(true)
  expect(await mayOn(site, "bob@pve", "/pool/HUT")).toBe(false)
  expect(accessListAt(site, "/pool/DEN")).toContain("carol@pve")
  const told = "user carol@pve has Administrator on pool DEN: somebody else granted it, so it stays"
  expect(await shown(site)).toMatchObject({ inLine: true, notes: [told] })
  const asked = await call(process, { id: "reconcileAccess", as: "BOSS", query: { dryRun: true } })
  expect(asked).toMatchObject({ ok: true, value: { changes: [], notes: [told] } })
  await giveAsRoot(site, "path=/pool/DEN&roles=Administrator&users=carol@pve&delete=1")
  await sleep(process, 30)
  expect(await shown(site)).toMatchObject({ inLine: true, notes: [] })
  await stop(process)
})
