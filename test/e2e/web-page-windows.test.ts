import { createKeyFile } from "@rangewright/adapter-subscription"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { noBrowser, openBrowser } from "./support/browser.ts"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, deploy, expectSuccess, rangeOf } from "./support/lab.ts"
import { writeLicense } from "./support/license.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"
import { inspector, password, signIn, watch } from "./support/web-page.ts"

const config = `ludus:
${["bought", "tried"]
  .map(
    (name, at) => `  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: ${name === "bought" ? "win2022-volume-template" : "win2022-server-x64-template"}
    vlan: 10
    ip_last_octet: ${at + 11}
    ram_gb: 4
    cpus: 2
    windows: {}
`,
  )
  .join("")}`

describe.skipIf(noBrowser !== undefined)(
  `the page of a Windows machine (skipped when ${noBrowser ?? "there is no browser"})`,
  { timeout: 300_000 },
  () => {
    let service: ServiceProcess
    let user: ApiClient
    const closes: (() => Promise<void>)[] = []

    beforeAll(async () => {
      const folder = temporaryFolder()
      const key = await createKeyFile(join(folder, "key.pem"))
      writeLicense(join(folder, "license.json"), key, { tier: "enterprise" })
      const simulator = await startSimulator(["--speed", "600", "--template", "win2022-volume-template=windows"])
      service = await startService(
        temporaryFolder(),
        onSimulator(simulator, {
          RANGEWRIGHT_KMS_HOST: "kms.example.org",
          RANGEWRIGHT_LICENSE_FILE: join(folder, "license.json"),
          RANGEWRIGHT_LICENSE_KEYS: key.public.text,
        }),
      )
      user = await addLab(service, "WIN", config)
      await user.send("POST", "/user/credentials", { proxmoxPassword: password })
      await expectSuccess(user, await deploy(user, "WIN"))
    }, 120_000)
    afterAll(async () => {
      for (const close of closes) await close()
      await endAll()
      removeFolders()
    })

    test("activates Windows, says why it cannot, and disguises the machine until the disguise is removed", async () => {
      const { context, close } = await openBrowser()
      closes.push(close)
      const wrong = watch(context, service.url)
      const page = await context.newPage()
      const dialog = page.getByRole("dialog")
      const press = (name: string) => page.getByRole("button", { name, exact: true }).click()
      const agree = (name: string) => dialog.getByRole("button", { name, exact: true }).click()
      await signIn(page, service.url, "WIN")
      const { VMs } = await rangeOf(user, "WIN")
      const show = async (name: string): Promise<number> => {
        const vmid = VMs.find((one) => one.name === `WIN-${name}`)?.proxmoxID ?? 0
        await page.goto(`${service.url}/ui/ranges/WIN/machines/${vmid}`)
        await page.getByRole("heading", { name: "Windows", exact: true }).waitFor()
        return vmid
      }
      await show("tried")
      await press("Activate…")
      await agree("Activate")
      await dialog.getByText(/evaluation edition/u).waitFor()
      await agree("Cancel")

      const vmid = await show("bought")
      await press("Activate…")
      await dialog.getByLabel("Product key").fill("not a key")
      await agree("Activate")
      await dialog.getByText(/product key has another form/u).waitFor()
      await dialog.getByLabel("Product key").fill("")
      await agree("Activate")
      await page.getByText("Windows is activated.").waitFor()
      expect(await user.get(`/machine/${vmid}`)).toMatchObject({ licence: expect.stringMatching(/activated/iu) })

      await press("Disguise…")
      // this form has not been sent yet
      await dialog.getByLabel("Maker of the computer").waitFor()
      expect(await dialog.getByText("Windows is activated.").count()).toBe(0)
      await dialog.getByLabel("Maker of the computer").selectOption("Lenovo")
      await dialog.getByLabel("Registered owner").fill("José Núñez")
      const inspect = await inspector(context, page)
      expect(await inspect("the dialog")).toEqual([])
      await agree("Disguise and restart")
      await page.getByText("The machine is disguised.").waitFor()
      await page.getByText("Disguised as").waitFor()
      expect(await user.get(`/machine/${vmid}`)).toMatchObject({ disguise: "Lenovo" })

      await press("Remove the disguise")
      await agree("Remove the disguise")
      await page.getByText("The disguise is removed.").waitFor()
      expect(await user.get(`/machine/${vmid}`)).not.toHaveProperty("disguise")
      expect(wrong.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([])
    })

    test("sets after how long a range that nobody uses is shut down, and says which texts are no durations", async () => {
      const { context, close } = await openBrowser()
      closes.push(close)
      const page = await context.newPage()
      await signIn(page, service.url, "WIN")
      await page.goto(`${service.url}/ui/ranges/WIN`)
      const timer = page.getByRole("region", { name: "Auto-shutdown" })
      const field = timer.getByLabel("Shut down after")
      const set = async (text: string) => {
        await field.fill(text)
        await timer.getByRole("button", { name: "Set", exact: true }).click()
      }
      await timer.getByText("Off: the range stays on until somebody stops it.").waitFor()
      await set("4h")
      await timer.getByText("The range is shut down after 4h without use.").waitFor()
      await timer.getByText("Shut down, unless it is used, at").waitFor()
      await set("soon")
      await timer.getByText('"soon" is not a duration').waitFor()
      await set("")
      await timer.getByText("Off: the range stays on until somebody stops it.").waitFor()
    })
  },
)
