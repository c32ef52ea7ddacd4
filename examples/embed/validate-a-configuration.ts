/** Validate a configuration: all its problems, with positions. */
import { validateConfiguration } from "@rangewright/embed"

const { valid, problems } = validateConfiguration(
  `
ludus:
  - vm_name: web
    hostname: web
    template: debian-12
    vlan: 5000
    ip_last_octet: 5
    ram_gb: 2
    cpus: 1
    linux: true
`,
  { templates: ["debian-11-x64-server-template"] },
)
process.stdout.write(`valid: ${valid}\n`)
for (const { line, column, path, severity, message } of problems)
  process.stdout.write(`${severity} in line ${line}, column ${column}: ${path}: ${message}\n`)
