import { machine } from "./shop-lab.ts"

/**
 * Labs whose roles do not declare their dependencies: only the order of the file is right. A forest, the child domain made in it, and a
 * federation service that trusts the child and needs the forest's certificate; a cluster's server and the agents that join it with its token.
 */
export const orderLab = `ludus:
${machine("web", 10, "    roles: [forest, cluster_server]\n    role_vars: {realm: forest.example}\n")}${machine("db", 20, "    roles: [child_domain, cluster_agent]\n    role_vars: {realm: child.forest.example}\n")}${machine("other", 30, "    roles: [federation, cluster_agent]\n")}`

/** Keys of its roles in the order of the file. */
export const orderOfRoles = (rangeId: string): readonly string[] =>
  ["web:forest", "web:cluster_server", "db:child_domain", "db:cluster_agent", "other:federation", "other:cluster_agent"].map(
    (role) => `role:${rangeId}-${role}`,
  )

const serve = (port: number, folder: string): string => `- name: Serve it
  ansible.builtin.shell: setsid nohup python3 -m http.server ${port} --directory ${folder} >/dev/null 2>&1 & sleep 0.2
  changed_when: false
`

/** Takes a moment, so that a role that does not wait for it comes too early. */
const forest = `- name: Make the directory of the forest
  ansible.builtin.shell: sleep 1; mkdir -p /tmp/forest; echo "{{ realm }}" > /tmp/forest/domains
  changed_when: false
- name: Issue the certificate of the federation service
  ansible.builtin.command: echo certificate of {{ realm }}
  register: issued
  changed_when: false
${serve(8389, "/tmp/forest")}`

const childDomain = `- name: Ask the parent domain
  ansible.builtin.uri: {url: "http://{{ range_id | lower }}-web.home.arpa:8389/domains", return_content: true}
  register: parent
- name: Make the child domain
  ansible.builtin.shell: mkdir -p /tmp/child; echo "{{ realm }} in {{ parent.content | trim }}" > /tmp/child/domains
  changed_when: false
${serve(8389, "/tmp/child")}`

const federation = `- name: Ask the domain that is trusted
  ansible.builtin.uri: {url: "http://{{ range_id | lower }}-db.home.arpa:8389/domains", return_content: true}
  register: trusted
- name: Trust it
  ansible.builtin.copy:
    dest: /tmp/federation
    content: "{{ trusted.content | trim }}, {{ hostvars[range_id ~ '-web'].issued.stdout }}, {{ hostvars[range_id ~ '-db'].realm }}"
    mode: "0644"
`

const clusterServer = `- name: Draw a token
  ansible.builtin.command: python3 -c 'import secrets; print(secrets.token_hex(8))'
  register: drawn
  changed_when: true
- name: Tell the agents
  ansible.builtin.set_fact: {cluster_token: "{{ drawn.stdout }}"}
- name: Let in who knows it
  ansible.builtin.shell: |
    mkdir -p "/tmp/cluster/{{ cluster_token }}"
    cat > /tmp/cluster/server.py <<'END'
    import http.server, os
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            token, node = self.path.strip("/").split("/")
            known = os.path.isdir("/tmp/cluster/" + token)
            if known: open("/tmp/cluster/nodes", "a").write(node + "\\n")
            self.send_response(200 if known else 403)
            self.end_headers()
    http.server.HTTPServer(("", 6443), Server).serve_forever()
    END
    setsid nohup python3 /tmp/cluster/server.py >/dev/null 2>&1 & sleep 0.2
  changed_when: false
`

const clusterAgent = `- name: Wait for the word
  ansible.builtin.shell: touch /tmp/agent-waits; while [ ! -e /tmp/agent-goes ]; do sleep 0.1; done
  changed_when: false
- name: Join the cluster
  ansible.builtin.uri:
    url: "http://{{ range_id | lower }}-web.home.arpa:6443/{{ hostvars[range_id ~ '-web'].cluster_token }}/{{ inventory_hostname }}"
`

export const orderRoles: Readonly<Record<string, string>> = {
  forest,
  child_domain: childDomain,
  federation,
  cluster_server: clusterServer,
  cluster_agent: clusterAgent,
}
