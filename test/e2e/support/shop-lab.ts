/** A machine of the simulator's, alone in its VLAN. */
export const machine = (name: string, vlan: number, more = ""): string => `  - vm_name: "{{ range_id }}-${name}"
    hostname: "{{ range_id }}-${name}"
    template: debian-12-x64-server-template
    vlan: ${vlan}
    ip_last_octet: 11
    ram_gb: 1
    cpus: 1
    linux: true
${more}`
const shopRoles = `    roles:
      - name: shop
        depends_on: [{vm_name: "{{ range_id }}-db", role: database}]
    role_vars: {greeting: "hello from {{ range_id }}"}
`
/** In force from the start. */
export const firstRule =
  "    - {name: shop asks its database, vlan_src: 10, vlan_dst: 20, protocol: tcp, ports: 5432, action: ACCEPT}\n"
/** Added later. */
export const secondRule =
  "    - {name: others look at it, vlan_src: 30, vlan_dst: 20, protocol: tcp, ports: 6000, action: ACCEPT}\n"
/** A web server, its database, and an unrelated machine, each in a VLAN of its own. */
export const shopLab = (otherRoles = "", rules = firstRule): string => `ludus:
${machine("web", 10, shopRoles)}${machine("db", 20, "    roles: [database]\n    dns_rewrites: ['*.data.example']\n")}${machine("other", 30, otherRoles)}network:
  inter_vlan_default: REJECT
  rules:
${rules}`

/** A role that pauses in the middle until it may continue. */
export const database = `- name: Have data
  ansible.builtin.copy: {dest: /srv/data, content: "42 {{ ludus_dns_server }}", mode: "0644"}
  become: true
- name: Wait for the word
  ansible.builtin.shell: touch /tmp/waits; while [ ! -e /tmp/go ]; do sleep 0.1; done
  changed_when: false
- name: Serve it
  ansible.builtin.shell:
    cmd: |
      for port in 5432 6000; do setsid nohup python3 -m http.server $port --directory /srv >/dev/null 2>&1 & done
      touch /run/serving
    creates: /run/serving
  become: true
`
/** A role that queries the database through the firewall, by name. */
export const shop = `- name: Ask the database by its name
  ansible.builtin.uri:
    url: http://{{ range_id | lower }}-db.home.arpa:5432/data
    return_content: true
  register: data
- name: Open the shop
  ansible.builtin.copy: {dest: /srv/shop, content: "{{ greeting }}: {{ data.content }}", mode: "0644"}
  become: true
`
/** Fails until it gets what it needs. */
export const picky = `- name: Want a file
  ansible.builtin.command: test -e /tmp/wanted
  changed_when: false
`
