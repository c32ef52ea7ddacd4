/** Plan a range: every step of its first deploy, without a service, a database or a hypervisor. */
import { planRange } from "@rangewright/embed"

const configuration = `
ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 20
    ip_last_octet: 5
    ram_gb: 2
    cpus: 1
    linux: true
`

const { text } = await planRange({
  configuration,
  rangeId: "LAB",
  templates: ["debian-11-x64-server-template", "debian-12-x64-server-template"],
})
process.stdout.write(`${text}\n`)
