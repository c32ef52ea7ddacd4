/** Read the catalog of a source: what it ships, which of it is installed, and what needs it. */
import { readCatalog } from "@rangewright/embed"

const { blueprints, localRoles } = readCatalog({
  id: "acme-labs",
  name: "Acme Labs",
  files: {
    "source.yml": "name: Acme Labs\n",
    "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n",
    "blueprints/web/range-config.yml":
      "ludus:\n  - {vm_name: web, template: debian-12, roles: [acme.hello, geerlingguy.docker]}\n",
    "blueprints/web/requirements.yml": "roles:\n  - {name: geerlingguy.docker, version: 7.4.4}\n",
    "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello, description: Says hello}\n",
  },
  installed: { roles: [{ name: "geerlingguy.docker", scope: "global", version: "7.0.1" }] },
  blueprints: [{ sourceBlueprintID: "web", version: "1.0.0" }],
})

for (const { id, version, state } of blueprints.items) process.stdout.write(`blueprint ${id} ${version}: ${state}\n`)
for (const { name, state, requiredBy = [] } of [...localRoles, ...blueprints.requiredRoles])
  process.stdout.write(`role ${name}: ${state}, needed by ${requiredBy.join(", ")}\n`)
